package io.github.jiffyperf.runtime;

import android.os.SystemClock;

/**
 * What instrumented code calls: the clock at a method's entry, and one report at each of its exits.
 *
 * <p>These methods never throw. They may be called from any thread, from a static initialiser, before {@code main}, after
 * the shutdown hooks, and with the stack or the heap nearly used up. Therefore this class has no static initialiser, and the
 * first calls touch no class but itself and what the VM used to boot: everything else is loaded and started by a thread of
 * jiffy's own ({@link #run}). Until that thread is ready, calls wait in a list here.
 *
 * <p>Method ids are 48 bits. Times are nanoseconds of the clock in the method's name, but for {@code elapsedRealtime}, which
 * counts milliseconds.
 */
public final class Probes implements Runnable {
    static final int RETURNED = 0;
    static final int THROWN = 1;
    static final int SUSPENDED = 2;

    /** Clocks, numbered as in the event log. */
    static final int NANO_TIME = 1;

    static final int ELAPSED_REALTIME_NANOS = 2;
    static final int ELAPSED_REALTIME = 3;

    /** What {@link #now} returns when even the clock could not be called. */
    static final long NO_START = Long.MIN_VALUE;

    private static final int JVM = 1;
    private static final int ANDROID = 2;

    private static final int NEW = 0;
    private static final int STARTING = 1;
    private static final int ON = 2;
    private static final int OFF = 3;

    private static final long MS = 1000000L;
    private static final long PAUSE_NS = 100000000L;
    private static final long EXPORT_LIMIT_NS = 30000000000L;
    private static final int EARLY_LIMIT = 1 << 21;
    /** Frames that must still fit on the stack before anything is touched that an overflow could leave half done. */
    static final int HEADROOM = 256;
    /** The same, where nothing but jiffy's own state is touched. */
    private static final int SMALL_HEADROOM = 64;

    private static int platform;
    /** The thread that is finding out the platform. */
    private static Thread detecting;
    private static volatile int state;
    /** This thread's buffer; null until jiffy's own thread is ready. */
    private static volatile ThreadLocal<ThreadBuffer> buffers;
    private static volatile Recorder recorder;
    /** What {@link #buffers} is going to be again when memory has run out and some time has passed. */
    private static volatile ThreadLocal<ThreadBuffer> paused;

    /** When to ask for memory again after it has run out, ns; 0 if it has not. */
    private static long resumeAt;
    private static Object suspendedMarker;
    private static boolean hooked;

    // Guarded by the class's monitor.
    private static Thread worker;
    private static Thread[] earlyThreads;
    /** Three words for each call: start, end, id and outcome and clock. */
    private static long[] earlyCalls;
    private static int early;
    private static long earlySeen;
    private static long nextStart;
    private static long lost;
    /** Events lost so near the end of the stack that not even {@link #lost} could be counted up; unsynchronised. */
    private static long uncounted;

    private static long discardedOwn;

    /** Whether this instance is the shutdown hook's work and not the writer's. */
    private final boolean hook;

    private Probes(boolean hook) {
        this.hook = hook;
    }

    // ---- entry and exits, clock chosen here: SystemClock.elapsedRealtimeNanos on Android, System.nanoTime elsewhere

    public static long now() {
        try {
            int p = platform;
            if (p == 0) {
                p = detectSlowly();
                if (p == 0) {
                    return NO_START;
                }
            }
            return p == ANDROID ? SystemClock.elapsedRealtimeNanos() : System.nanoTime();
        } catch (Throwable t) {
            return NO_START;
        }
    }

    public static void returned(long start, long id) {
        try {
            record(start, now(), id, RETURNED, autoClock());
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void thrown(long start, long id) {
        try {
            record(start, now(), id, THROWN, autoClock());
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    /** An exit of a Kotlin suspend function, which has not completed if it returns {@code COROUTINE_SUSPENDED}. */
    public static void returned(Object result, long start, long id) {
        try {
            record(start, now(), id, outcomeOf(result), autoClock());
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    // ---- exits, System.nanoTime

    public static void returnedNanoTime(long start, long id) {
        try {
            record(start, System.nanoTime(), id, RETURNED, NANO_TIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void thrownNanoTime(long start, long id) {
        try {
            record(start, System.nanoTime(), id, THROWN, NANO_TIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void returnedNanoTime(Object result, long start, long id) {
        try {
            record(start, System.nanoTime(), id, outcomeOf(result), NANO_TIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    // ---- exits, SystemClock.elapsedRealtimeNanos

    public static void returnedElapsedRealtimeNanos(long start, long id) {
        try {
            record(start, SystemClock.elapsedRealtimeNanos(), id, RETURNED, ELAPSED_REALTIME_NANOS);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void thrownElapsedRealtimeNanos(long start, long id) {
        try {
            record(start, SystemClock.elapsedRealtimeNanos(), id, THROWN, ELAPSED_REALTIME_NANOS);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void returnedElapsedRealtimeNanos(Object result, long start, long id) {
        try {
            record(start, SystemClock.elapsedRealtimeNanos(), id, outcomeOf(result), ELAPSED_REALTIME_NANOS);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    // ---- exits, SystemClock.elapsedRealtime; start in milliseconds

    public static void returnedElapsedRealtime(long start, long id) {
        try {
            record(start * MS, SystemClock.elapsedRealtime() * MS, id, RETURNED, ELAPSED_REALTIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void thrownElapsedRealtime(long start, long id) {
        try {
            record(start * MS, SystemClock.elapsedRealtime() * MS, id, THROWN, ELAPSED_REALTIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    public static void returnedElapsedRealtime(Object result, long start, long id) {
        try {
            record(start * MS, SystemClock.elapsedRealtime() * MS, id, outcomeOf(result), ELAPSED_REALTIME);
        } catch (Throwable t) {
            try {
                recordFailed(t);
            } catch (Throwable again) {
                uncounted++;
            }
        }
    }

    // ---- the hot path

    /**
     * Writes one event record of two words into the thread's block. {@code used} moves only after the words are published, so
     * that a stack overflow in between loses this event and harms nothing else.
     */
    private static void record(long start, long end, long id, int outcome, int clock) {
        ThreadLocal<ThreadBuffer> all = buffers;
        if (all != null) {
            ThreadBuffer b = all.get();
            if (b != null && b.clock == clock) {
                int n = b.used;
                long duration = end - start;
                long offset = end - b.base;
                if (n < b.limit && (duration >>> Block.DURATION_BITS | offset >>> Block.END_BITS) == 0) {
                    long[] words = b.words;
                    words[n] = id << 16 | (long) outcome << 14 | duration >>> 24;
                    words[n + 1] = duration << Block.END_BITS | offset;
                    b.block.lazySet(n + 2);
                    b.used = n + 2;
                    return;
                }
            }
        }
        recordSlowly(start, end, id, outcome, clock);
    }

    private static void recordSlowly(long start, long end, long id, int outcome, int clock) {
        if (state == OFF) {
            return;
        }
        if (start == NO_START || end == NO_START) {
            countLost();
            return;
        }
        Recorder r = recorder;
        headroom(r == null ? HEADROOM : SMALL_HEADROOM);
        if (r == null && recordEarly(start, end, id, outcome, clock)) {
            return;
        }
        r = recorder;
        if (r != null && (paused == null || !losesToPause())) {
            r.record(start, end, id, outcome, clock);
        }
    }

    /** Overflows the stack now, where that is harmless, if it would overflow soon. */
    static int headroom(int frames) {
        return frames == 0 ? 0 : headroom(frames - 1) + 1;
    }

    private static void recordFailed(Throwable t) {
        boolean noMemory = isOutOfMemory(t);
        countLost();
        if (noMemory) {
            pauseForMemory();
        }
    }

    private static boolean isOutOfMemory(Throwable t) {
        return t instanceof OutOfMemoryError;
    }

    /** Every further attempt of a thread to record its first event would have the VM search the heap for memory again. */
    private static void pauseForMemory() {
        try {
            synchronized (Probes.class) {
                resumeAt = System.nanoTime() + PAUSE_NS;
                if (buffers != null) {
                    paused = buffers;
                    buffers = null;
                }
            }
        } catch (Throwable t) {
            // Too little stack on top of it.
        }
    }

    /** Whether recording pauses, which loses the current event. */
    private static boolean losesToPause() {
        synchronized (Probes.class) {
            if (paused == null) {
                return false;
            }
            if (System.nanoTime() - resumeAt >= 0) {
                buffers = paused;
                paused = null;
                return false;
            }
            if (Thread.currentThread() == worker) {
                discardedOwn++;
            } else {
                lost++;
            }
            return true;
        }
    }

    private static void countLost() {
        synchronized (Probes.class) {
            lost++;
        }
    }

    // ---- platform and outcome

    /**
     * Finds out where this runs. What that calls may have probes itself, in an instrumented Java library: their calls are lost,
     * which 0 stands for.
     */
    private static int detectSlowly() {
        Thread t = Thread.currentThread();
        if (detecting == t) {
            return 0;
        }
        detecting = t;
        try {
            int p = "Dalvik".equals(System.getProperty("java.vm.name")) ? ANDROID : JVM;
            platform = p;
            return p;
        } finally {
            detecting = null;
        }
    }

    static boolean isAndroid() {
        int p = platform;
        return (p == 0 ? detectSlowly() : p) == ANDROID;
    }

    static int autoClock() {
        return platform == ANDROID ? ELAPSED_REALTIME_NANOS : NANO_TIME;
    }

    private static int outcomeOf(Object result) {
        if (result == null) {
            return RETURNED;
        }
        if (result == suspendedMarker) {
            return SUSPENDED;
        }
        return result instanceof Enum && isSuspendedMarker((Enum<?>) result) ? SUSPENDED : RETURNED;
    }

    /** By name: Kotlin need not be on jiffy's class path, and there may be several copies of it in one process. */
    private static boolean isSuspendedMarker(Enum<?> result) {
        if (!"COROUTINE_SUSPENDED".equals(result.name())
                || !"kotlin.coroutines.intrinsics.CoroutineSingletons".equals(result.getClass().getName())) {
            return false;
        }
        suspendedMarker = result;
        return true;
    }

    // ---- until jiffy's own thread is ready

    /** Keeps the call for later and returns true, or returns false if jiffy has become ready meanwhile. */
    private static boolean recordEarly(long start, long end, long id, int outcome, int clock) {
        synchronized (Probes.class) {
            if (state == ON || state == OFF) {
                return false;
            }
            Thread t = Thread.currentThread();
            if (t == worker) {
                discardedOwn++;
                return true;
            }
            if (++earlySeen > nextStart && state == NEW) {
                startWorker(t);
            }
            if (!reserveEarly()) {
                lost++;
                return true;
            }
            int n = early;
            earlyThreads[n] = t;
            earlyCalls[3 * n] = start;
            earlyCalls[3 * n + 1] = end;
            earlyCalls[3 * n + 2] = id << 16 | outcome << 8 | clock;
            early = n + 1;
            return true;
        }
    }

    private static boolean reserveEarly() {
        Thread[] threads = earlyThreads;
        if (threads != null && early < threads.length) {
            return true;
        }
        int size = threads == null ? 1024 : 2 * threads.length;
        if (size > (platform == ANDROID ? EARLY_LIMIT >> 4 : EARLY_LIMIT)) {
            return false;
        }
        if (resumeAt != 0 && System.nanoTime() - resumeAt < 0) {
            return false;
        }
        Thread[] moreThreads = new Thread[size];
        long[] moreCalls = new long[3 * size];
        if (threads != null) {
            System.arraycopy(threads, 0, moreThreads, 0, early);
            System.arraycopy(earlyCalls, 0, moreCalls, 0, 3 * early);
        }
        earlyThreads = moreThreads;
        earlyCalls = moreCalls;
        return true;
    }

    /**
     * Starts jiffy's thread; where that fails (no more threads, no memory), a later call tries again, ever more rarely. The
     * shutdown hook is set here already: a program may well end before jiffy's thread gets to run.
     */
    private static void startWorker(Thread current) {
        state = STARTING;
        nextStart = 2 * earlySeen;
        try {
            ThreadGroup group = current.getThreadGroup();
            while (group != null && group.getParent() != null) {
                group = group.getParent();
            }
            if (!hooked && platform != ANDROID) {
                addHook(group);
            }
            Thread t = new Thread(group, new Probes(false), "jiffy-writer", 0);
            t.setDaemon(true);
            worker = t;
            t.start();
        } catch (Throwable t) {
            worker = null;
            state = NEW;
        }
    }

    private static void addHook(ThreadGroup group) {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(group, new Probes(true), "jiffy-shutdown", 0));
            hooked = true;
        } catch (IllegalStateException e) {
            // The VM is shutting down already: what is recorded from here on is written, but not exported.
        }
    }

    /** Jiffy's threads: one sets up the runtime, then writes the log for as long as the process lives; one is the hook. */
    @Override
    public void run() {
        if (hook) {
            export();
            return;
        }
        // Has the class of the error looked up here, and not where the stack is nearly full.
        isOutOfMemory(new IllegalStateException());
        while (true) {
            try {
                Writer.start();
                return;
            } catch (Throwable t) {
                pause(1000);
            }
        }
    }

    private static void export() {
        try {
            long deadline = System.nanoTime() + EXPORT_LIMIT_NS;
            while (state == STARTING && deadline - System.nanoTime() > 0) {
                pause(1);
            }
            Recorder r = recorder;
            if (r != null) {
                r.discardCurrentThread();
                r.export(deadline);
            }
        } catch (Throwable t) {
            // The VM ends; there is nobody left to tell.
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (Throwable t) {
            // Interrupted: go on sooner.
        }
    }

    /** Hands what was kept early to the recorder, in order, and lets threads record by themselves from here on. */
    static void open(Recorder r, ThreadLocal<ThreadBuffer> local) {
        synchronized (Probes.class) {
            for (int i = 0; i < early; i++) {
                long packed = earlyCalls[3 * i + 2];
                r.adopt(earlyThreads[i], earlyCalls[3 * i], earlyCalls[3 * i + 1], packed >>> 16, (int) (packed >> 8) & 3,
                        (int) packed & 3);
            }
            dropEarly();
            recorder = r;
            buffers = local;
            state = ON;
        }
    }

    /** Nothing will be recorded in this process. */
    static void close() {
        synchronized (Probes.class) {
            state = OFF;
            buffers = null;
            recorder = null;
            dropEarly();
        }
    }

    private static void dropEarly() {
        earlyThreads = null;
        earlyCalls = null;
        early = 0;
    }

    /** The runtime, or null as long as nothing is recorded. */
    static Recorder recorder() {
        return recorder;
    }

    static long lost() {
        synchronized (Probes.class) {
            return lost + uncounted;
        }
    }

    static long discardedOwn() {
        synchronized (Probes.class) {
            return discardedOwn;
        }
    }
}
