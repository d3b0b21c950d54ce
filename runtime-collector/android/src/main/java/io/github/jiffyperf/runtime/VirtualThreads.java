package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Buffers for virtual threads (Java 21 and later): a fixed number of stripes, whatever the number of threads. A virtual thread
 * always uses the same stripe, so that its events stay in order. Stripes are locked by spinning: the lock is held for a few
 * stores, and neither parks nor pins.
 */
final class VirtualThreads {
    private static final int STRIPES = 16;
    private static final int RECORD_WORDS = 5;
    private static final int SPINS = 1000;

    private final Recorder recorder;
    private final Class<?> virtualThread;
    private final AtomicInteger[] locks = new AtomicInteger[STRIPES];
    /** One chain of buffers for each stripe: a buffer for each clock. */
    private final ThreadBuffer[] stripes = new ThreadBuffer[STRIPES];

    VirtualThreads(Recorder recorder) {
        this.recorder = recorder;
        this.virtualThread = find();
        for (int i = 0; i < STRIPES; i++) {
            locks[i] = new AtomicInteger();
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
        AtomicInteger lock = locks[stripe];
        lock(lock);
        try {
            ThreadBuffer b = buffer(stripe, clock);
            if (b.fits(RECORD_WORDS, end) || recorder.makeRoom(b)) {
                b.append(start, end, id, outcome, javaId);
            } else {
                recorder.dropped.incrementAndGet();
            }
        } finally {
            lock.set(0);
        }
    }

    private static void lock(AtomicInteger lock) {
        int tries = 0;
        while (!lock.compareAndSet(0, 1)) {
            if (++tries > SPINS) {
                Thread.yield();
            }
        }
    }

    private ThreadBuffer buffer(int stripe, int clock) {
        for (ThreadBuffer b = stripes[stripe]; b != null; b = b.sibling) {
            if (b.clock == clock) {
                return b;
            }
        }
        ThreadIdentity identity = new ThreadIdentity("virtual threads, stripe " + stripe, ThreadIdentity.STRIPE);
        ThreadBuffer b = recorder.registry.add(identity, clock, recorder.pool.takeFirst());
        b.sibling = stripes[stripe];
        stripes[stripe] = b;
        return b;
    }
}
