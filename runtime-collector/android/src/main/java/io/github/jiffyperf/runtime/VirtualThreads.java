package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Buffers for virtual threads (Java 21 and later): a fixed number of stripes, whatever the number of threads. A virtual thread
 * always uses the same stripe, so that its events stay in order. Stripes are locked by spinning: the lock is held for a few
 * stores, and its holder never blocks.
 */
final class VirtualThreads {
    private static final int STRIPES = 16;
    private static final int RECORD_WORDS = 5;

    private final Recorder recorder;
    private final Class<?> virtualThread;
    private final SpinLock[] locks = new SpinLock[STRIPES];
    /** One chain of buffers for each stripe: a buffer for each clock. */
    private final AtomicReferenceArray<ThreadBuffer> stripes = new AtomicReferenceArray<ThreadBuffer>(STRIPES);

    VirtualThreads(Recorder recorder) {
        this.recorder = recorder;
        this.virtualThread = find();
        for (int i = 0; i < STRIPES; i++) {
            locks[i] = new SpinLock();
        }
    }

    private static Class<?> find() {
        try {
            return Class.forName("java.lang.BaseVirtualThread", false, null);
        } catch (Throwable t) {
            return null;
        }
    }

    boolean isVirtual(Thread t) {
        return virtualThread != null && virtualThread.isInstance(t);
    }

    void record(Thread t, long start, long end, long id, int outcome, int clock) {
        long javaId = ThreadIdentity.javaId(t);
        int stripe = (int) javaId & STRIPES - 1;
        ThreadBuffer b = buffer(stripe, clock);
        long deadline = 0;
        while (!tryRecord(b, locks[stripe], javaId, start, end, id, outcome)) {
            // Without the lock: a virtual thread that yields may be away for long.
            if (deadline == 0) {
                deadline = System.nanoTime() + Recorder.MAX_WAIT_NS;
            } else if (System.nanoTime() - deadline > 0) {
                recorder.dropped.incrementAndGet();
                return;
            }
            Thread.yield();
        }
    }

    private boolean tryRecord(ThreadBuffer b, SpinLock lock, long javaId, long start, long end, long id, int outcome) {
        lock.lock();
        try {
            if (!b.fits(RECORD_WORDS, end) && !recorder.tryMakeRoom(b)) {
                return false;
            }
            b.append(start, end, id, outcome, javaId);
            return true;
        } finally {
            lock.unlock();
        }
    }

    private ThreadBuffer buffer(int stripe, int clock) {
        ThreadBuffer b = find(stripe, clock);
        return b != null ? b : add(stripe, clock);
    }

    private ThreadBuffer find(int stripe, int clock) {
        for (ThreadBuffer b = stripes.get(stripe); b != null; b = b.sibling) {
            if (b.clock == clock) {
                return b;
            }
        }
        return null;
    }

    private synchronized ThreadBuffer add(int stripe, int clock) {
        ThreadBuffer b = find(stripe, clock);
        if (b == null) {
            ThreadIdentity identity = new ThreadIdentity("virtual threads, stripe " + stripe, ThreadIdentity.STRIPE);
            b = recorder.registry.add(identity, clock, recorder.pool.takeFirst());
            b.sibling = stripes.get(stripe);
            stripes.set(stripe, b);
        }
        return b;
    }
}
