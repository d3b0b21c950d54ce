package io.github.jiffyperf.runtime;

/** Walks the event records of a block. */
final class RecordCursor {
    private static final long OUTCOME_MASK = 3;
    private static final long END_MASK = (1L << Block.END_BITS) - 1;

    private final boolean shared;
    private Block block;
    private int at;
    private int to;

    // The record that next() has read.
    long id;
    int outcome;
    long start;
    long end;
    /** Java thread id, in blocks of a stripe. */
    long javaId;

    // What scan() has found.
    int records;
    long maxEnd = Long.MIN_VALUE;

    RecordCursor(boolean shared) {
        this.shared = shared;
    }

    void reset(Block block, int from, int to) {
        this.block = block;
        this.at = from;
        this.to = to;
    }

    /** Reads the next record; false at the end. */
    boolean next() {
        if (at >= to) {
            return false;
        }
        long[] words = block.words;
        long first = words[at];
        id = first >>> 16;
        outcome = (int) (first >>> 14 & OUTCOME_MASK);
        if (outcome == Block.ESCAPE) {
            outcome = (int) (first & OUTCOME_MASK);
            start = words[at + 1];
            end = words[at + 2];
            at += 4;
        } else {
            long second = words[at + 1];
            end = block.base + (second & END_MASK);
            start = end - ((first & 0x3FFF) << 24 | second >>> Block.END_BITS);
            at += 2;
        }
        if (shared) {
            javaId = words[at++];
        }
        return true;
    }

    /** Index of the word after the record. */
    int position() {
        return at;
    }

    /** Counts the records and finds their latest end. */
    void scan(Block block, int from, int to) {
        if (!shared && block.escapes == 0) {
            records = (to - from) / 2;
            maxEnd = to > from ? block.base + (block.words[to - 1] & END_MASK) : Long.MIN_VALUE;
            return;
        }
        reset(block, from, to);
        records = 0;
        maxEnd = Long.MIN_VALUE;
        while (next()) {
            records++;
            maxEnd = Math.max(maxEnd, end);
        }
    }
}
