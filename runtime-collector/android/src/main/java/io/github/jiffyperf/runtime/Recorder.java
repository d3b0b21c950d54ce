package io.github.jiffyperf.runtime;

import android.os.Process;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What an app thread does when an event can't simply be written into its block: its first event, a full block, times that
 * don't fit a record, virtual threads. No I/O, and no waiting but for the bounded wait in {@link #makeRoom}.
 */
final class Recorder {
    /** Every call goes to the log. */
    static final int EXACT = 0;
    /** Calls are folded into aggregates, from here on and for good. */
    static final int FOLDED = 1;

    private static final int CALL_WORDS = 4;
    private static final long LINGER_NS = 200000000L;
    private static final long QUIET_MS = 5;
    static final long MAX_WAIT_NS = 100000000L;
    /** Before a wait ends without success: where threads are many, one turn of all the others may take longer than the wait. */
    private static final int MIN_TRIES = 16;

    final Settings settings;
    final BlockPool pool;
    final Registry registry;
    final FoldLimits foldLimits;
    final AtomicLong dropped = new AtomicLong();
    final AtomicLong discardedOwn = new AtomicLong();

    private final ThreadLocal<ThreadBuffer> local;
    private final VirtualThreads virtualThreads;
    private final ThreadBuffer discard = ThreadBuffer.marker(ThreadBuffer.DISCARD);
    private final ThreadBuffer virtual = ThreadBuffer.marker(ThreadBuffer.VIRTUAL);
    private final AtomicInteger phase = new AtomicInteger(EXACT);
    private volatile String foldReason;
    private volatile Writer writer;

    Recorder(Settings settings, ThreadLocal<ThreadBuffer> local) {
        this.settings = settings;
        this.local = local;
        this.pool = new BlockPool(settings.bufferBytes, settings.sizeClasses);
        this.registry = new Registry();
        this.foldLimits = new FoldLimits(settings.maxAggregates);
        this.virtualThreads = new VirtualThreads(this);
    }

    void attach(Writer w) {
        writer = w;
    }

    // ---- phases

    int phase() {
        return phase.get();
    }

    String foldReason() {
        return foldReason;
    }

    /** From now on calls are folded. Reasons are those of the log's PHASE chunk. */
    void startFolding(String reason) {
        if (phase.compareAndSet(EXACT, FOLDED)) {
            foldReason = reason;
            wakeWriter();
        }
    }

    // ---- recording

    void record(long start, long end, long id, int outcome, int clock) {
        ThreadBuffer b = local.get();
        if (b == null) {
            b = register(Thread.currentThread(), clock);
        }
        switch (b.kind) {
            case ThreadBuffer.DISCARD:
                discardedOwn.incrementAndGet();
                return;
            case ThreadBuffer.VIRTUAL:
                virtualThreads.record(Thread.currentThread(), start, end, id, outcome, clock);
                return;
            case ThreadBuffer.SCRATCH:
                if (!b.fits(CALL_WORDS, end)) {
                    b.rewind();
                }
                b.append(start, end, id, outcome);
                return;
            default:
                append(ofClock(b, clock), start, end, id, outcome);
        }
    }

    private void append(ThreadBuffer b, long start, long end, long id, int outcome) {
        if (b.fits(CALL_WORDS, end) || makeRoom(b)) {
            b.append(start, end, id, outcome);
        } else {
            dropped.incrementAndGet();
        }
    }

    /** Makes room in a buffer whose producer the caller is; false if there is none to be had. */
    private boolean makeRoom(ThreadBuffer b) {
        if (tryMakeRoom(b)) {
            return true;
        }
        long deadline = System.nanoTime() + MAX_WAIT_NS;
        for (int tries = 0; tries < MIN_TRIES || System.nanoTime() - deadline < 0; tries++) {
            Thread.yield();
            if (tryFoldOwn(b)) {
                return true;
            }
        }
        return false;
    }

    /** The same without waiting, for those who hold a lock: false also while the writer is busy with the buffer. */
    boolean tryMakeRoom(ThreadBuffer b) {
        if (b.extend(pool)) {
            wakeWriter();
            return true;
        }
        startFolding("memory");
        return tryFoldOwn(b);
    }

    /** Folds the buffer's own events on the thread that produced them, as the writer can't keep up. */
    private boolean tryFoldOwn(ThreadBuffer b) {
        if (!b.tryConsume()) {
            b.producerWaits = true;
            return false;
        }
        try {
            b.producerWaits = false;
            Folding.drain(b, this);
            b.rewind();
            return true;
        } finally {
            b.endConsume();
        }
    }

    /** A thread's first event. What registering calls by itself is not recorded. */
    private ThreadBuffer register(Thread t, int clock) {
        Probes.headroom(Probes.HEADROOM);
        if (virtualThreads.isVirtual(t)) {
            local.set(virtual);
            return virtual;
        }
        local.set(discard);
        ThreadBuffer b = null;
        try {
            b = registry.adopted(t);
            if (b == null) {
                b = registry.add(new ThreadIdentity(t), clock, pool.takeFirst());
            }
            if (Probes.isAndroid()) {
                b.identity.tid = Process.myTid();
            }
            wakeWriter();
        } finally {
            local.set(b);
        }
        return b;
    }

    private ThreadBuffer ofClock(ThreadBuffer b, int clock) {
        if (b.clock == clock) {
            return b;
        }
        for (ThreadBuffer s = b.sibling; s != null; s = s.sibling) {
            if (s.clock == clock) {
                return s;
            }
        }
        ThreadBuffer s = registry.add(b.identity, clock, pool.takeFirst());
        s.sibling = b.sibling;
        b.sibling = s;
        return s;
    }

    /** Takes over a call that a thread made before jiffy was ready; the thread finds its buffer at its next event. */
    void adopt(Thread t, long start, long end, long id, int outcome, int clock) {
        if (virtualThreads.isVirtual(t)) {
            virtualThreads.record(t, start, end, id, outcome, clock);
            return;
        }
        ThreadBuffer b = registry.adoption(t);
        if (b == null) {
            b = registry.add(new ThreadIdentity(t), clock, pool.takeFirst());
            registry.adopt(t, b);
        }
        append(ofClock(b, clock), start, end, id, outcome);
    }

    /** Records as if the current thread were virtual. */
    void rehearseVirtual(int events) {
        for (int i = 0; i < events; i++) {
            virtualThreads.record(Thread.currentThread(), i, i + 1, i & 3, Probes.RETURNED, Probes.NANO_TIME);
        }
    }

    /** Marks the current thread as jiffy's own: its events are discarded. */
    void discardCurrentThread() {
        local.set(discard);
    }

    /** Records the current thread's events into a scratch buffer, which is returned. */
    ThreadBuffer scratchCurrentThread(int clock) {
        ThreadBuffer b = ThreadBuffer.scratch(clock, new Block(0, BlockPool.words(0)));
        local.set(b);
        return b;
    }

    // ---- for the shutdown hook and the public API

    /** Has everything recorded so far written; false if that took longer than allowed or could not be done. */
    boolean flush(long deadlineNanos) {
        Writer w = writer;
        return w != null && w.requests().flush(deadlineNanos);
    }

    /**
     * Has the log completed with what is said at the end of a process. The app's own hooks may still run: while they make calls,
     * this waits a little longer.
     */
    void export(long deadlineNanos) {
        Writer w = writer;
        if (w == null || !w.requests().export(deadlineNanos)) {
            return;
        }
        long deadline = System.nanoTime() + LINGER_NS;
        long calls;
        do {
            calls = w.calls();
            pause();
            w.requests().flush(deadline);
        } while (w.calls() != calls && deadline - System.nanoTime() > 0);
    }

    private static void pause() {
        try {
            Thread.sleep(QUIET_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    void wakeWriter() {
        Writer w = writer;
        if (w != null) {
            w.wake();
        }
    }
}
