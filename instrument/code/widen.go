package code

import "slices"

// A branch that outgrows 16 bits gets help. A goto or jsr becomes a goto_w or jsr_w. A conditional branch, which has no wide
// form, goes through a detour: a goto_w to its target, put in a place that nothing falls into, near enough to be reached.
// Turning the condition round and jumping over a goto_w would need a frame for the instruction behind it, which only the
// types inferred there could give; the detour's frame is a copy of its target's.

// detour is a goto_w between the instructions of the original.
type detour struct {
	site   int // the old pc in front of which it stands
	target int // the old pc that it jumps to
	at     int // its new pc
}

// widened is a branch that needs help.
type widened struct {
	pc     int
	site   int // of its detour; -1 for a goto or jsr, which is replaced
	target int
}

const gotoWLength = 5

// fixBranches lays the code out again and again until every branch reaches its target.
func (l *layout) fixBranches(b *Body) error {
	for l.newLen > 0x7FFF {
		n := len(l.wide)
		if err := l.findFar(b); err != nil {
			return err
		}
		if len(l.wide) == n {
			return nil
		}
		l.addWideStops(b)
		l.place(b)
	}
	return nil
}

// findFar adds the branches that don't reach to wide.
func (l *layout) findFar(b *Body) error {
	for _, p := range b.Points {
		if formats[p.Op].operand != branch16 {
			continue
		}
		pc := int(p.PC)
		target := branchTarget(b, pc)
		if !b.StartsAt(target) {
			return &PCError{pc, "branch to between instructions", ErrMalformed}
		}
		if s := l.stopAt(pc); s != nil && s.instead >= 0 || l.reaches(l.instruction(pc), l.destination(pc, target)) {
			continue
		}
		if w := l.widenedAt(pc); w != nil {
			if w.site >= 0 {
				return &PCError{pc, "branch", ErrBranch} // even its detour is out of reach by now
			}
			continue
		}
		w := widened{pc: pc, site: -1, target: target}
		if p.Op != OpGoto && p.Op != OpJsr {
			if w.site = l.siteNear(b, pc); w.site < 0 {
				return &PCError{pc, "branch", ErrBranch}
			}
		}
		l.wide = append(l.wide, w)
	}
	return nil
}

// reaches reports whether a branch with a 16-bit offset gets from one new pc to another.
func (l *layout) reaches(from, to int) bool { return to-from == int(int16(to-from)) }

// widenedAt finds the entry of a branch; nil where it needs no help.
func (l *layout) widenedAt(pc int) *widened {
	for i := range l.wide {
		if l.wide[i].pc == pc {
			return &l.wide[i]
		}
	}
	return nil
}

// destination is where a branch jumps to in the new code: its target, or its detour.
func (l *layout) destination(pc, target int) int {
	if len(l.wide) == 0 {
		return l.land(target)
	}
	if w := l.widenedAt(pc); w != nil && w.site >= 0 {
		for _, d := range l.detours {
			if d.site == w.site && d.target == target {
				return d.at
			}
		}
	}
	return l.land(target)
}

// siteNear finds the place for a detour that is nearest to a branch: behind an instruction that doesn't fall through, and
// in no protected range, whose handler would have to accept the detour's frame. The end of the code is always one.
func (l *layout) siteNear(b *Body, pc int) int {
	best, bestDistance := -1, 0
	consider := func(site int) {
		distance := max(site-pc, pc-site)
		if (best < 0 || distance < bestDistance) && !b.insideRange(site) {
			best, bestDistance = site, distance
		}
	}
	for at := 0; at < len(b.Code); {
		next := at + b.Length(at)
		if endsFlow(b, at) {
			consider(next)
		}
		at = next
	}
	const margin = 2048 // for detours and wide branches that are still to come
	if best < 0 || !l.reaches(l.instruction(pc), l.land(best)+margin) || !l.reaches(l.instruction(pc), l.land(best)-margin) {
		return -1
	}
	return best
}

// endsFlow reports whether nothing falls through the instruction at pc to the next one.
func endsFlow(b *Body, pc int) bool {
	switch op := b.Code[pc]; formats[op].operand {
	case branch16:
		return op == OpGoto
	case branch32:
		return op == OpGotoW
	case table, lookup, exit, ret:
		return true
	default:
		return op == OpAthrow
	}
}

// insideRange reports whether a handler covers code on both sides of pc.
func (b *Body) insideRange(pc int) bool {
	for i := range b.Handlers() {
		if start, end := b.HandlerRange(i); start < pc && pc < end {
			return true
		}
	}
	return false
}

// addWideStops makes a stop of every branch that is replaced and of every detour's site.
func (l *layout) addWideStops(b *Body) {
	l.detours = l.detours[:0]
	for i := range l.stops {
		l.stops[i].detours = 0
	}
	for _, w := range l.wide {
		if w.site < 0 {
			s := l.ensureStop(w.pc)
			s.oldSize, s.wide = b.Length(w.pc), true
			continue
		}
		d := detour{site: w.site, target: w.target}
		if !slices.Contains(l.detours, d) {
			l.detours = append(l.detours, d)
			l.ensureStop(w.site).detours++
		}
	}
	slices.SortStableFunc(l.detours, func(a, b detour) int { return a.site - b.site })
}

func (l *layout) ensureStop(pc int) *stop {
	i, found := slices.BinarySearchFunc(l.stops, pc, func(s stop, pc int) int { return s.pc - pc })
	if !found {
		first := len(l.order)
		if i < len(l.stops) {
			first = l.stops[i].first
		}
		l.stops = slices.Insert(l.stops, i, stop{pc: pc, first: first, instead: -1})
	}
	return &l.stops[i]
}

// savedFrame is what a frame of the original says.
type savedFrame struct {
	locals, stack []vtype
	slots         int
}

// saveTargets decodes a StackMapTable once to learn the frames at the detours' targets.
func (f *frames) saveTargets(info []byte, b *Body, l *layout) (map[int]savedFrame, error) {
	saved := map[int]savedFrame{}
	for _, d := range l.detours {
		saved[d.target] = savedFrame{}
	}
	old, slots := slices.Clone(f.old), f.slots
	size := 0
	err := f.each(info, b, l, func(pc int) {
		if _, wanted := saved[pc]; wanted && size <= maxTable {
			saved[pc] = savedFrame{slices.Clone(f.old), slices.Clone(f.stack), f.slots}
			size += len(f.old) + len(f.stack)
		}
	})
	f.old, f.slots = old, slots
	if err == nil && size > maxTable {
		err = &PCError{0, "StackMapTable over 4 MB", ErrTooLarge}
	}
	return saved, err
}

// detour writes the frame of a detour: a copy of its target's.
func (f *frames) detour(s savedFrame, pc, maxLocals, longs int) {
	old, slots, stack := f.old, f.slots, f.stack
	f.old, f.slots, f.stack = s.locals, s.slots, s.stack
	f.write(pc, maxLocals-f.slots, longs)
	f.old, f.slots, f.stack = old, slots, stack
}
