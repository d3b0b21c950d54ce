package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The events of one thread (or of one stripe of virtual threads) on their way to the log: a chain of blocks that the thread
 * appends to at one end and one consumer at a time takes from at the other.
 *
 * <p>Event records are those of the event log (docs/event-log.md); a stripe's are each followed by the Java thread id.
 */
final class ThreadBuffer {
    /** Events go to the log. */
    static final int RECORD = 0;
    /** The thread is jiffy's, or is being registered: events are counted and discarded. */
    static final int DISCARD = 1;
    /** The thread is virtual: events go to a stripe. */
    static final int VIRTUAL = 2;
    /** Events are measured, not kept: the probe's cost is being calibrated. */
    static final int SCRATCH = 3;

    // Read and written by the producer only; Probes.record reads these five.
    final int clock;
    long[] words;
    int used;
    int limit;
    long base;
    Block block;

    final int kind;
    final int index;
    final ThreadIdentity identity;
    /** The same thread's buffer for another clock. */
    ThreadBuffer sibling;
    private int nextSizeClass;

    /** Held by whoever consumes; the rest is the consumer's. */
    private final AtomicBoolean consuming = new AtomicBoolean();
    /** Set again and again while a producer waits to consume by itself; the writer then leaves the rest to it. */
    volatile boolean producerWaits;
    Block head;
    /** End of the last call taken from here exactly; calls that begin later may be folded. */
    long lastExactEnd = Long.MIN_VALUE;
    Folder folder;
    /** Version of the identity that the log holds; the writer's. */
    int writtenVersion;
    /** Whether the folded log knows of this buffer; the writer's. */
    boolean inFoldedLog;

    private ThreadBuffer(int kind, int clock, int index, ThreadIdentity identity, Block first) {
        this.kind = kind;
        this.clock = clock;
        this.index = index;
        this.identity = identity;
        this.head = first;
        if (first != null) {
            use(first);
        }
    }

    static ThreadBuffer recording(int clock, int index, ThreadIdentity identity, Block first) {
        return new ThreadBuffer(RECORD, clock, index, identity, first);
    }

    static ThreadBuffer scratch(int clock, Block first) {
        return new ThreadBuffer(SCRATCH, clock, 0, null, first);
    }

    /** A buffer that holds nothing, for threads whose events go elsewhere; clock 0 sends every event the slow way. */
    static ThreadBuffer marker(int kind) {
        return new ThreadBuffer(kind, 0, 0, null, null);
    }

    private void use(Block b) {
        block = b;
        words = b.words;
        limit = b.words.length - 1;
        used = 0;
        // Has the next record go the slow way, which sets the base: the one that asked for this block may yet be lost.
        base = Long.MIN_VALUE;
    }

    // ---- producer

    /** Whether a record of so many words with this end fits the block as it is. */
    boolean fits(int recordWords, long end) {
        return used + recordWords <= words.length && (used == 0 || end - base >>> Block.END_BITS == 0);
    }

    /** Goes on with a new block; false if the pool has none. */
    boolean extend(BlockPool pool) {
        Block next = pool.take(nextSizeClass + 1);
        if (next == null) {
            return false;
        }
        nextSizeClass = next.sizeClass;
        Block full = block;
        use(next);
        full.next = next;
        return true;
    }

    /** Appends a record; the caller has checked that it fits. */
    void append(long start, long end, long id, int outcome) {
        int n = put(start, end, id, outcome);
        block.lazySet(n);
        used = n;
    }

    /** Appends a record of a virtual thread; the caller holds the stripe's lock and has checked that it fits. */
    void append(long start, long end, long id, int outcome, long javaId) {
        int n = put(start, end, id, outcome);
        words[n++] = javaId;
        block.lazySet(n);
        used = n;
    }

    private int put(long start, long end, long id, int outcome) {
        int n = used;
        if (n == 0) {
            base = end;
            block.base = end;
        }
        long duration = end - start;
        long offset = end - base;
        if ((duration >>> Block.DURATION_BITS | offset >>> Block.END_BITS) == 0) {
            words[n++] = id << 16 | (long) outcome << 14 | duration >>> 24;
            words[n++] = duration << Block.END_BITS | offset;
            return n;
        }
        words[n++] = id << 16 | (long) Block.ESCAPE << 14 | (long) Block.CALL << 2 | outcome;
        words[n++] = start;
        words[n++] = end;
        words[n++] = 0;
        block.escapes++;
        return n;
    }

    /** Starts over in the current block, which the caller has consumed. */
    void rewind() {
        block.clear();
        used = 0;
    }

    // ---- consumer

    boolean tryConsume() {
        return consuming.compareAndSet(false, true);
    }

    /** Waits for a producer that folds its own events, which is soon done. */
    void awaitConsume() {
        while (!tryConsume()) {
            Thread.yield();
        }
    }

    void endConsume() {
        consuming.set(false);
    }

    /** Whether a block is waiting that the producer has finished with. */
    boolean hasFullBlock() {
        return head.next != null;
    }

    /** Gives every block back; the thread has ended and nothing is left in them. */
    void release(BlockPool pool) {
        Block b = head;
        while (b != null) {
            Block next = b.next;
            pool.give(b);
            b = next;
        }
        head = null;
    }
}
