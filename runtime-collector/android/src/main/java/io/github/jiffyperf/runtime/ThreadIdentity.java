package io.github.jiffyperf.runtime;

import java.lang.ref.WeakReference;

/** Whose events a buffer holds, as the log's THREAD chunk says it. */
final class ThreadIdentity {
    static final int MAIN = 1;
    static final int STRIPE = 2;
    static final int DAEMON = 4;
    static final int OWN = 8;

    private static final long FIRST_RETRY_NS = 20000000L;
    private static final int MAX_DOUBLINGS = 9;
    private static final int FIRST_APP_ID = 10;

    private final WeakReference<Thread> thread;
    final long javaId;
    final int flags;
    String name;
    /** Kernel thread id; 0 not known (yet). On Android the thread itself sets it, elsewhere the writer. */
    volatile long tid;
    /** What the tid may be, as long as one look alone leaves a doubt. */
    long suspectedTid;
    /** Start of the kernel thread, ticks since boot; 0 not known. */
    long startTime;
    /** Counts what has become known: the log is told again whenever it moves. */
    int version = 1;
    private int tries;
    private long nextTry;

    /** No single thread: a stripe that virtual threads share, or all threads that have ended. */
    ThreadIdentity(String name, int flags) {
        this.thread = null;
        this.javaId = 0;
        this.name = name;
        this.flags = flags;
    }

    ThreadIdentity(Thread t) {
        this.thread = new WeakReference<Thread>(t);
        this.javaId = javaId(t);
        this.name = t.getName();
        this.flags = (isMain() ? MAIN : 0) | (t.isDaemon() ? DAEMON : 0);
    }

    /** The VM creates the main thread, among a few of its own, before any of the app's: it may not be the first. */
    private boolean isMain() {
        return javaId < FIRST_APP_ID && name.equals("main");
    }

    /** Not named differently in later Java versions for virtual threads, whose own class does not override it. */
    @SuppressWarnings("deprecation")
    static long javaId(Thread t) {
        return t.getId();
    }

    /** Whether to look for the tid now: ever more rarely, where it does not become clear. */
    boolean tryNow(long now) {
        if (tries > 0 && now - nextTry < 0) {
            return false;
        }
        nextTry = now + (FIRST_RETRY_NS << Math.min(tries++, MAX_DOUBLINGS));
        return true;
    }

    /** The thread, or null once it has ended. */
    Thread live() {
        Thread t = thread == null ? null : thread.get();
        return t != null && t.isAlive() ? t : null;
    }

    boolean isStripe() {
        return (flags & STRIPE) != 0;
    }

    void resolved(long tid, long startTime) {
        this.tid = tid;
        this.startTime = startTime;
        version++;
    }

    void refreshName() {
        Thread t = live();
        if (t != null && !t.getName().equals(name)) {
            name = t.getName();
            version++;
        }
    }
}
