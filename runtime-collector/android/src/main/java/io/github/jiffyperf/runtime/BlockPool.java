package io.github.jiffyperf.runtime;

/** The memory events wait in: blocks of a few sizes, reused, within one bound for the whole process. */
final class BlockPool {
    /** Events in a block of size class 0; each further class holds four times as many. */
    static final int SMALLEST_EVENTS = 256;

    private static final int WORDS_PER_EVENT = 2;

    private final long boundBytes;
    private final SpinLock lock = new SpinLock();
    // Guarded by the lock.
    private final Block[] free;
    private long bytes;
    private long blocks;

    BlockPool(long boundBytes, int sizeClasses) {
        this.boundBytes = boundBytes;
        this.free = new Block[sizeClasses];
    }

    static int words(int sizeClass) {
        return SMALLEST_EVENTS * WORDS_PER_EVENT << 2 * sizeClass;
    }

    /** A block of the size class, or a smaller one when memory gets short, or any; null if there is none. */
    Block take(int sizeClass) {
        int c = Math.min(sizeClass, free.length - 1);
        lock.lock();
        try {
            while (c >= 0 && free[c] == null && !reserve(c)) {
                c--;
            }
            if (c < 0) {
                return takeLarger(sizeClass);
            }
            if (free[c] != null) {
                return unlink(c);
            }
        } finally {
            lock.unlock();
        }
        return allocate(c);
    }

    private Block takeLarger(int sizeClass) {
        for (int c = sizeClass + 1; c < free.length; c++) {
            if (free[c] != null) {
                return unlink(c);
            }
        }
        return null;
    }

    private Block unlink(int sizeClass) {
        Block b = free[sizeClass];
        free[sizeClass] = b.next;
        b.clear();
        return b;
    }

    /** A smallest block, past the bound if need be: every thread has one, and threads are few compared with their stacks. */
    Block takeFirst() {
        Block b = take(0);
        if (b != null) {
            return b;
        }
        count(0, 1);
        return allocate(0);
    }

    void give(Block b) {
        lock.lock();
        try {
            b.next = free[b.sizeClass];
            free[b.sizeClass] = b;
        } finally {
            lock.unlock();
        }
    }

    long blocks() {
        lock.lock();
        try {
            return blocks;
        } finally {
            lock.unlock();
        }
    }

    private void count(int sizeClass, int n) {
        lock.lock();
        try {
            bytes += n * size(sizeClass);
            blocks += n;
        } finally {
            lock.unlock();
        }
    }

    /** Large blocks are for when there is plenty: idle threads keep theirs. */
    private boolean reserve(int sizeClass) {
        long size = size(sizeClass);
        long left = boundBytes - bytes;
        if (size > (sizeClass == 0 ? left : left / 32)) {
            return false;
        }
        bytes += size;
        blocks++;
        return true;
    }

    private Block allocate(int sizeClass) {
        boolean done = false;
        try {
            Block b = new Block(sizeClass, words(sizeClass));
            done = true;
            return b;
        } finally {
            if (!done) {
                count(sizeClass, -1);
            }
        }
    }

    private static long size(int sizeClass) {
        return 8L * words(sizeClass);
    }
}
