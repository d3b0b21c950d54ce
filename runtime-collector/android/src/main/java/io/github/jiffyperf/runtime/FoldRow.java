package io.github.jiffyperf.runtime;

/** The folded calls of one method on one thread: a row of the log's FOLD chunk. */
final class FoldRow {
    /** Flag: self time, or total time, is approximate. */
    static final long APPROXIMATE = 1;

    private static final int WORDS = 12;

    final long id;
    long calls;
    long thrown;
    long suspended;
    long total;
    long self;
    long max;
    long children;
    long firstStart = Long.MAX_VALUE;
    long lastEnd = Long.MIN_VALUE;
    long flags;
    private final Histogram durations = new Histogram();

    FoldRow(long id) {
        this.id = id;
    }

    /** Adds a call; total and self are what is left of its duration. */
    void add(long start, long end, int outcome, long totalNs, long selfNs) {
        if (outcome == Probes.SUSPENDED) {
            suspended++;
        } else {
            durations.add(end - start); // first: it may run out of memory, and then the call is not counted at all
            calls++;
            thrown += outcome == Probes.THROWN ? 1 : 0;
            max = Math.max(max, end - start);
        }
        total += totalNs;
        self += selfNs;
        firstStart = Math.min(firstStart, start);
        lastEnd = Math.max(lastEnd, end);
    }

    void addAll(FoldRow other) {
        calls += other.calls;
        thrown += other.thrown;
        suspended += other.suspended;
        total += other.total;
        self += other.self;
        max = Math.max(max, other.max);
        children += other.children;
        firstStart = Math.min(firstStart, other.firstStart);
        lastEnd = Math.max(lastEnd, other.lastEnd);
        flags |= other.flags;
        durations.addAll(other.durations);
    }

    /** Words of the row in the log. */
    int words() {
        return WORDS + durations.nonEmpty();
    }

    /** Words of the row that put() has written at the index. */
    static int words(long[] words, int at) {
        return WORDS + (int) words[at + WORDS - 1];
    }

    int put(long[] words, int at) {
        words[at] = id;
        words[at + 1] = calls;
        words[at + 2] = thrown;
        words[at + 3] = suspended;
        words[at + 4] = total;
        words[at + 5] = self;
        words[at + 6] = max;
        words[at + 7] = children;
        words[at + 8] = firstStart;
        words[at + 9] = lastEnd;
        words[at + 10] = flags;
        words[at + 11] = durations.nonEmpty();
        return durations.put(words, at + WORDS);
    }
}
