package code

// placedHandler is a handler of the plan, with the new pc of its code.
type placedHandler struct {
	*Handler
	pc int
}

// coveredRange is a row of the exception table, in new pcs.
type coveredRange struct{ start, end, handler int }

// placeHandlers puts the handlers one after another behind the code, and returns the length that it has with them. Those that have nothing
// left to cover are left out.
func (r *Rewriter) placeHandlers(b *Body, handlers []Handler) (length int, err error) {
	r.covered, r.placed = r.covered[:0], r.placed[:0]
	length = r.layout.newLen
	if len(handlers) > maxHandlers {
		return length, &PCError{0, "more than 64 handlers", ErrMalformed}
	}
	for i := range handlers {
		h := placedHandler{&handlers[i], length}
		from := len(r.covered)
		r.coverBody(b, &h, 1<<i)
		for k := range r.placed {
			if err := r.coverHandler(&h, &r.placed[k]); err != nil {
				return length, err
			}
		}
		if len(r.covered) > from {
			r.placed = append(r.placed, h)
			length += len(h.Code)
		}
	}
	return length, nil
}

// cover adds a range to what a handler covers. Empty ones are left out: a verifier refuses them (JVMS §4.7.3).
func (r *Rewriter) cover(h *placedHandler, start, end int) {
	if start >= end {
		return
	}
	if n := len(r.covered); n > 0 && r.covered[n-1].handler == h.pc && r.covered[n-1].end == start {
		r.covered[n-1].end = end
		return
	}
	r.covered = append(r.covered, coveredRange{start, end, h.pc})
}

// coverBody adds what a handler covers of the body: everything in its ranges but code that is bare of it.
func (r *Rewriter) coverBody(b *Body, h *placedHandler, bit HandlerSet) {
	l := &r.layout
	for _, c := range h.Ranges {
		start := l.land(c.Start)
		for i := range l.stops {
			s := &l.stops[i]
			if s.detours > 0 && s.pc > c.Start && s.pc < c.End {
				r.cover(h, start, l.rangeEnd(s.pc))
				start = l.boundary(s.pc)
			}
			if s.bare&bit != 0 && s.pc >= c.Start && s.pc < c.End {
				start = r.coverStop(b, h, s, bit, start)
			}
		}
		r.cover(h, start, l.rangeEnd(c.End))
	}
}

// coverStop adds what a handler covers from start up to the last bare code of a stop, and returns where that ends.
func (r *Rewriter) coverStop(b *Body, h *placedHandler, s *stop, bit HandlerSet, start int) int {
	l := &r.layout
	at := s.at - s.after
	for e := s.first; e < s.first+s.edits; e++ {
		end := at + len(l.order[e].Code)
		if l.order[e].Bare&bit != 0 {
			if l.order[e].Place == Before {
				r.cover(h, start, at)
				return s.at + s.before + l.newLength(b, s)
			}
			r.cover(h, start, at)
			start = max(start, end)
		}
		at = end
	}
	return start
}

// coverHandler adds the code of an inner handler to what an outer one covers, if it covers all that the inner one does.
func (r *Rewriter) coverHandler(outer, inner *placedHandler) error {
	if contains(outer.Ranges, inner.Ranges) {
		r.cover(outer, inner.pc, inner.pc+len(inner.Code))
		return nil
	}
	for _, i := range inner.Ranges {
		for _, o := range outer.Ranges {
			if i.Start < o.End && o.Start < i.End {
				return &PCError{max(i.Start, o.Start), "handlers that overlap and are not nested", ErrMalformed}
			}
		}
	}
	return nil
}

// contains reports whether every range of inner lies in one of outer.
func contains(outer, inner []Range) bool {
	for _, i := range inner {
		found := false
		for _, o := range outer {
			found = found || o.Start <= i.Start && i.End <= o.End
		}
		if !found {
			return false
		}
	}
	return true
}

// newLength is the length of a stop's instruction in the new code.
func (l *layout) newLength(b *Body, s *stop) int {
	if s.oldSize > 0 {
		return s.newSize
	}
	return b.Length(s.pc)
}
