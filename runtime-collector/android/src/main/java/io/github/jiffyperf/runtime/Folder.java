package io.github.jiffyperf.runtime;

/**
 * Folds the completed calls of one thread, or of the virtual threads of one stripe, into a row for each method. Nesting is
 * computed as the calls come, in end order: a call's children are the calls not yet claimed that started no earlier than it.
 *
 * <p>A call that began before the first folded one may have children that are exact: it stays exact itself, with a cover in
 * front of it that says how much of it folded calls took.
 *
 * <p>Used by the buffer's consumer only.
 */
final class Folder {
    private static final int MAX_NESTINGS = 1024;

    final Crossings crossings;
    private final boolean shared;
    private final long foldStart;
    private final FoldLimits limits;
    private final LongMap<FoldRow> rows = new LongMap<FoldRow>();
    private Nesting nesting;
    private LongMap<Nesting> nestings = new LongMap<Nesting>();
    private long uses;
    /** The latest end of calls forgotten with their thread's nesting. */
    private long forgottenEnd = Long.MIN_VALUE;
    long folded;
    long dropped;

    /** foldStart is the end of the last call that was written exactly. */
    Folder(boolean shared, long foldStart, FoldLimits limits) {
        this.shared = shared;
        this.foldStart = foldStart;
        this.limits = limits;
        this.crossings = new Crossings(shared);
        this.nesting = new Nesting(limits);
    }

    void fold(long start, long end, long id, int outcome, long javaId) {
        if (end < start) {
            dropped++; // a clock that ran backwards: no call, and the order of starts would be lost
            return;
        }
        Nesting n = shared ? nesting(javaId) : nesting;
        boolean approximate = shared && start <= forgottenEnd;
        if (start < foldStart) {
            if (crossings.hasRoom() && limits.takeCrossing()) {
                cross(n, start, end, id, outcome, javaId);
                return;
            }
            approximate = true;
        }
        FoldRow row = row(id);
        n.claimChildren(start, end);
        long self = end - start - n.pending.claimedDuration;
        long children = n.pending.claimedCount;
        approximate |= n.pending.approximate;
        n.push(start, end);
        if (row == null) {
            dropped++;
            return;
        }
        IntervalStack own = n.claimOwn(id, start, end);
        long total = end - start - (own == null ? 0 : own.claimedDuration);
        approximate |= own != null && own.approximate;
        n.pushOwn(id, own, start, end);
        row.add(start, end, outcome, total, self);
        row.children += children;
        if (approximate) {
            row.flags |= FoldRow.APPROXIMATE;
        }
        folded++;
    }

    /** Keeps a call exact. Its folded children become a cover, and folded calls of the same method no longer count as outermost. */
    private void cross(Nesting n, long start, long end, long id, int outcome, long javaId) {
        if (!n.pending.isEmpty()) {
            n.pending.claimAll();
            crossings.cover(n.pendingStart, n.pendingEnd, n.pending.claimedDuration, javaId);
        }
        IntervalStack own = n.claimOwn(id, start, end);
        FoldRow row = rows.get(id);
        if (own != null && row != null) {
            row.total -= own.claimedDuration;
        }
        crossings.call(start, end, id, outcome, javaId);
    }

    private FoldRow row(long id) {
        FoldRow row = rows.get(id);
        if (row == null && limits.takeAggregate()) {
            row = new FoldRow(id);
            rows.put(id, row);
        }
        return row;
    }

    private Nesting nesting(long javaId) {
        Nesting n = nestings.get(javaId);
        if (n == null) {
            if (nestings.size() >= MAX_NESTINGS) {
                forgetQuietHalf();
            }
            n = new Nesting(limits);
            nestings.put(javaId, n);
        }
        n.lastUse = ++uses;
        return n;
    }

    /** Lets go of virtual threads that have completed no call lately; most of them have ended. */
    private void forgetQuietHalf() {
        LongMap<Nesting> kept = new LongMap<Nesting>();
        long[] lastUses = new long[nestings.size()];
        int count = 0;
        for (int i = 0; i < nestings.slots(); i++) {
            if (nestings.at(i) != null) {
                lastUses[count++] = nestings.at(i).lastUse;
            }
        }
        java.util.Arrays.sort(lastUses);
        long median = lastUses[count / 2];
        for (int i = 0; i < nestings.slots(); i++) {
            Nesting n = nestings.at(i);
            if (n == null) {
                continue;
            }
            if (n.lastUse >= median) {
                kept.put(nestings.keyAt(i), n);
                continue;
            }
            if (!n.pending.isEmpty()) {
                forgottenEnd = Math.max(forgottenEnd, n.pendingEnd);
            }
            n.release();
        }
        nestings = kept;
    }

    /** Lets go of what only calls to come would need; the thread has ended. */
    void end() {
        nesting.release();
        nesting = null;
    }

    // ---- for the snapshot

    int rows() {
        return rows.size();
    }

    /** Adds the rows of a thread that has ended; their nesting is over. */
    void addAll(Folder other) {
        for (int i = 0; i < other.rows.slots(); i++) {
            FoldRow theirs = other.rows.at(i);
            if (theirs == null) {
                continue;
            }
            FoldRow ours = rows.get(theirs.id);
            if (ours == null) {
                rows.put(theirs.id, theirs);
            } else {
                ours.addAll(theirs);
                limits.giveAggregates(1);
            }
        }
        folded += other.folded;
        dropped += other.dropped;
    }

    /** Appends the words of all rows. */
    void put(WordList list) {
        for (int i = 0; i < rows.slots(); i++) {
            FoldRow row = rows.at(i);
            if (row != null) {
                list.reserve(row.words());
                list.size = row.put(list.words, list.size);
            }
        }
    }
}
