package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/** What folding may use in the whole process. */
final class FoldLimits {
    private static final int MAX_CROSSINGS = 1 << 16;

    final int maxAggregates;
    /** Entries of {@link IntervalStack}s, of 32 bytes, for each row there may be. */
    private static final int INTERVALS_PER_AGGREGATE = 16;

    private final AtomicInteger aggregates = new AtomicInteger();
    private final AtomicInteger intervals = new AtomicInteger();
    private final AtomicInteger crossings = new AtomicInteger();

    FoldLimits(int maxAggregates) {
        this.maxAggregates = maxAggregates;
    }

    boolean takeAggregate() {
        if (aggregates.get() >= maxAggregates) {
            return false;
        }
        aggregates.incrementAndGet();
        return true;
    }

    void giveAggregates(int n) {
        aggregates.addAndGet(-n);
    }

    boolean takeIntervals(int n) {
        if (intervals.get() > (long) maxAggregates * INTERVALS_PER_AGGREGATE) {
            return false;
        }
        intervals.addAndGet(n);
        return true;
    }

    void giveIntervals(int n) {
        intervals.addAndGet(-n);
    }

    /** Exact records that may still be written for calls that were open when folding began. */
    boolean takeCrossing() {
        if (crossings.get() >= MAX_CROSSINGS) {
            return false;
        }
        crossings.incrementAndGet();
        return true;
    }
}
