package io.github.jiffyperf.runtime;

/** Counts of durations in buckets at most 12.5 % wide: eight to each power of two. */
final class Histogram {
    private int first;
    private long[] counts = new long[0];

    static int bucket(long duration) {
        if (duration < 8) {
            return (int) Math.max(0, duration);
        }
        int e = 63 - Long.numberOfLeadingZeros(duration);
        return (e - 2) * 8 + (int) (duration >> e - 3 & 7);
    }

    void add(long duration) {
        add(bucket(duration), 1);
    }

    private void add(int bucket, long count) {
        if (bucket < first || bucket >= first + counts.length) {
            cover(bucket);
        }
        counts[bucket - first] += count;
    }

    void addAll(Histogram other) {
        for (int i = 0; i < other.counts.length; i++) {
            if (other.counts[i] != 0) {
                add(other.first + i, other.counts[i]);
            }
        }
    }

    /** Widens the range of buckets held, by eight at a time. */
    private void cover(int bucket) {
        int aligned = bucket & ~7;
        if (counts.length == 0) {
            counts = new long[8];
            first = aligned;
            return;
        }
        int newFirst = Math.min(first, aligned);
        int newEnd = Math.max(first + counts.length, aligned + 8);
        long[] wider = new long[newEnd - newFirst];
        System.arraycopy(counts, 0, wider, first - newFirst, counts.length);
        counts = wider;
        first = newFirst;
    }

    int nonEmpty() {
        int n = 0;
        for (long count : counts) {
            if (count != 0) {
                n++;
            }
        }
        return n;
    }

    /** Writes words bucket (16 bits) | count (48 bits) from index at on; returns the index after them. */
    int put(long[] words, int at) {
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] != 0) {
                words[at++] = (long) (first + i) << 48 | counts[i];
            }
        }
        return at;
    }
}
