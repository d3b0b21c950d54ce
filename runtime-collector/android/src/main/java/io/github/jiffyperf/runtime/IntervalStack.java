package io.github.jiffyperf.runtime;

import java.util.Arrays;

/**
 * Completed calls that an enclosing call may yet claim as its own: nothing tells when calls begin, so all that is known is that a
 * call which started at s encloses whatever started at s or later and has not been claimed by then.
 *
 * <p>The stack is bounded. Beyond its bound the older half is merged pairwise, so that entries get coarser the older they are. A
 * claim that falls inside a merged entry takes the share that the time suggests, and says that it is approximate.
 */
final class IntervalStack {
    private static final int WIDTH = 4;
    private static final int FIRST = 0;
    private static final int LAST = 1;
    private static final int DURATION = 2;
    private static final int COUNT = 3;

    private static final int FIRST_CAPACITY = 4;

    private final FoldLimits limits;
    private long[] entries = new long[FIRST_CAPACITY * WIDTH];
    private int size;
    private int bound;

    // What claim() has found.
    long claimedDuration;
    long claimedCount;
    boolean approximate;

    /** Entries beyond the first few count towards the limits of the process. */
    IntervalStack(FoldLimits limits, int bound) {
        this.limits = limits;
        this.bound = bound;
    }

    void setBound(int bound) {
        this.bound = bound;
    }

    /**
     * Pushes a call. A claim from after last on leaves it alone even when it has been merged with calls before it.
     *
     * @param together what lies within one entry of this other stack is claimed together, if ever: before entries are merged with a
     *     loss, those are merged without; may be null
     */
    void push(long start, long last, long duration, IntervalStack together) {
        if (size * WIDTH == entries.length) {
            makeRoom(together);
        }
        int e = size * WIDTH;
        entries[e + FIRST] = start;
        entries[e + LAST] = last;
        entries[e + DURATION] = duration;
        entries[e + COUNT] = 1;
        size++;
    }

    private void makeRoom(IntervalStack together) {
        if (together != null) {
            mergeWithin(together);
        }
        if (4 * size <= 3 * (entries.length / WIDTH)) {
            return;
        }
        if (2 * size <= bound && limits.takeIntervals(size)) {
            entries = Arrays.copyOf(entries, 2 * entries.length);
        } else {
            mergeOlderHalf();
        }
    }

    private void mergeWithin(IntervalStack others) {
        int kept = 0;
        int other = -1; // before the first of the others: calls that began before folding claim all of it, or none
        int mergedInto = -2;
        for (int i = 0; i < size; i++) {
            other = others.lastUpTo(entries[i * WIDTH + FIRST], other);
            if (mergedInto == other) {
                merge(kept - 1, i);
            } else {
                move(i, kept);
                kept++;
                mergedInto = other;
            }
        }
        size = kept;
    }

    /**
     * Index of the last entry that started at s or earlier, given one before it or -1. Searched in growing steps: the first
     * answer may be thousands of entries away, the next is near.
     */
    private int lastUpTo(long s, int from) {
        int low = from;
        int step = 1;
        while (low + step < size && entries[(low + step) * WIDTH + FIRST] <= s) {
            low += step;
            step *= 2;
        }
        int high = Math.min(low + step, size);
        while (high - low > 1) {
            int middle = low + high >>> 1;
            if (entries[middle * WIDTH + FIRST] <= s) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void mergeOlderHalf() {
        int half = size / 2 & ~1;
        for (int i = 0; i < half; i += 2) {
            move(i, i / 2);
            merge(i / 2, i + 1);
        }
        System.arraycopy(entries, half * WIDTH, entries, half / 2 * WIDTH, (size - half) * WIDTH);
        size -= half / 2;
    }

    private void move(int from, int to) {
        int f = from * WIDTH;
        int t = to * WIDTH;
        entries[t + FIRST] = entries[f + FIRST];
        entries[t + LAST] = entries[f + LAST];
        entries[t + DURATION] = entries[f + DURATION];
        entries[t + COUNT] = entries[f + COUNT];
    }

    /** Adds the later entry to the earlier one. */
    private void merge(int earlier, int later) {
        int to = earlier * WIDTH;
        int from = later * WIDTH;
        entries[to + LAST] = entries[from + LAST];
        entries[to + DURATION] += entries[from + DURATION];
        entries[to + COUNT] += entries[from + COUNT];
    }

    /** Gives back what counted towards the limits; the stack is not used any more. */
    void release() {
        limits.giveIntervals(entries.length / WIDTH - FIRST_CAPACITY);
    }

    /** Takes away all calls that started at s or later, and sums them up; all of them ended at end at the latest. */
    void claim(long s, long end) {
        claimedDuration = 0;
        claimedCount = 0;
        approximate = false;
        while (size > 0) {
            int e = (size - 1) * WIDTH;
            if (entries[e + FIRST] < s) {
                if (entries[e + LAST] >= s) {
                    split(e, s, end - s - claimedDuration);
                }
                return;
            }
            claimedDuration += entries[e + DURATION];
            claimedCount += entries[e + COUNT];
            size--;
        }
    }

    /**
     * Claims a share of an entry. Neither what is claimed, at most the time given, nor what stays, the time before s, comes to more
     * than there is room for: calls do not overlap.
     */
    private void split(int e, long s, long room) {
        long first = entries[e + FIRST];
        long last = entries[e + LAST];
        double share = (double) (last - s + 1) / (last - first + 1);
        long duration = (long) (entries[e + DURATION] * share);
        duration = Math.min(room, Math.max(duration, entries[e + DURATION] - (s - first)));
        long count = Math.min(entries[e + COUNT] - 1, Math.max(1, (long) (entries[e + COUNT] * share)));
        entries[e + LAST] = s - 1;
        entries[e + DURATION] -= duration;
        entries[e + COUNT] -= count;
        claimedDuration += duration;
        claimedCount += count;
        approximate = true;
    }

    /** Takes away everything; the sums are those of all entries. */
    void claimAll() {
        claim(Long.MIN_VALUE, Long.MAX_VALUE);
    }

    boolean isEmpty() {
        return size == 0;
    }
}
