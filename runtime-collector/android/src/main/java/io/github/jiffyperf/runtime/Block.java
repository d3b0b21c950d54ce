package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A run of event words that one thread fills and one consumer at a time reads. Its own value is the number of words published:
 * the producer moves it with a release store, the consumer reads it before it reads the words.
 */
final class Block extends AtomicInteger {
    static final int DURATION_BITS = 38;
    static final int END_BITS = 40;
    /** Outcome of a record of four words that holds its times in full. */
    static final int ESCAPE = 3;

    static final int CALL = 0;
    static final int COVER = 1;

    private static final long serialVersionUID = 1L;

    final transient long[] words;
    final transient int sizeClass;
    /** What the ends in this block count from, ns; set before the first record is published. */
    transient long base;
    /** Escape records so far; the producer counts one before it publishes it. */
    transient int escapes;
    /** Words the consumer is done with. */
    transient int drained;
    /** The block the producer went on with, set when this one will not change any more; in the pool, the next free one. */
    transient volatile Block next;

    Block(int sizeClass, int words) {
        this.sizeClass = sizeClass;
        this.words = new long[words];
    }

    void clear() {
        escapes = 0;
        drained = 0;
        next = null;
        lazySet(0);
    }
}
