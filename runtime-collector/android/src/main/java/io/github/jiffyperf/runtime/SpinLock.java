package io.github.jiffyperf.runtime;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A lock for a few instructions. Who holds one must not block, not on a monitor either: a virtual thread that blocks gives its
 * carrier to others, and those that spin and yield may keep it from ever coming back.
 */
final class SpinLock extends AtomicBoolean {
    private static final long serialVersionUID = 1L;
    private static final int SPINS = 1000;

    void lock() {
        int tries = 0;
        while (!compareAndSet(false, true)) {
            if (++tries > SPINS) {
                Thread.yield();
            }
        }
    }

    void unlock() {
        set(false);
    }
}
