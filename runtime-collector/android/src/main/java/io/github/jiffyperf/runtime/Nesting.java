package io.github.jiffyperf.runtime;

/** What is known of one thread's completed calls while their callers still run. */
final class Nesting {
    private static final int PENDING = 2048;
    /** As most methods never call themselves, little is kept for them until they do. */
    private static final int OWN = 32;
    private static final int OWN_RECURSIVE = 2048;

    private final FoldLimits limits;

    /** Completed calls whose callers have not completed: the children of whatever encloses them next. */
    final IntervalStack pending;
    /** By method: its completed calls that no call of the same method encloses so far. */
    private final LongMap<IntervalStack> own = new LongMap<IntervalStack>();
    /** Start of the first and end of the last call in pending. */
    long pendingStart;
    long pendingEnd;
    /** Moves with every call, for finding the thread that has been quiet longest. */
    long lastUse;

    Nesting(FoldLimits limits) {
        this.limits = limits;
        this.pending = new IntervalStack(limits, PENDING);
    }

    /** Claims a call's direct children. Two calls of no length at the same instant are siblings. */
    void claimChildren(long start, long end) {
        pending.claim(start == end ? Long.MAX_VALUE : start, end);
    }

    void push(long start, long end) {
        if (pending.isEmpty()) {
            pendingStart = start;
        }
        pendingStart = Math.min(pendingStart, start);
        pendingEnd = end;
        pending.push(start, start, end - start, null);
    }

    /** The method's calls that a call of the same method which began at start encloses; null if it has none waiting. */
    IntervalStack claimOwn(long id, long start, long end) {
        IntervalStack calls = own.get(id);
        if (calls == null) {
            return null;
        }
        calls.claim(start == end ? Long.MAX_VALUE : start, end);
        if (calls.claimedCount > 0) {
            calls.setBound(OWN_RECURSIVE);
        }
        return calls;
    }

    void pushOwn(long id, IntervalStack calls, long start, long end) {
        IntervalStack stack = calls;
        if (stack == null) {
            stack = new IntervalStack(limits, OWN);
            own.put(id, stack);
        }
        // Of no account: a call of no length that ended just where the claim begins.
        stack.push(start, end - 1, end - start, pending);
    }

    /** Gives back what counted towards the limits; the thread has ended, or is forgotten. */
    void release() {
        pending.release();
        for (int i = 0; i < own.slots(); i++) {
            if (own.at(i) != null) {
                own.at(i).release();
            }
        }
    }
}
