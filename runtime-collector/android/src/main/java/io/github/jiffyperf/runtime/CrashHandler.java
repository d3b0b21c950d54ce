package io.github.jiffyperf.runtime;

/**
 * Has the log written before an uncaught exception kills the process, then does what would have been done without jiffy. For
 * Android, where nothing else runs before such a death; on a JVM a thread's death kills nothing, and shutdown hooks run.
 */
final class CrashHandler implements Thread.UncaughtExceptionHandler {
    private static final long LIMIT_NS = 2000000000L;

    private final Recorder recorder;
    private final Thread.UncaughtExceptionHandler previous;

    private CrashHandler(Recorder recorder, Thread.UncaughtExceptionHandler previous) {
        this.recorder = recorder;
        this.previous = previous;
    }

    /** Does nothing where no handler is set: what happens then depends on that. */
    static void install(Recorder recorder) {
        Thread.UncaughtExceptionHandler previous = Thread.getDefaultUncaughtExceptionHandler();
        if (previous != null) {
            Thread.setDefaultUncaughtExceptionHandler(new CrashHandler(recorder, previous));
        }
    }

    @Override
    public void uncaughtException(Thread t, Throwable e) {
        try {
            recorder.flush(System.nanoTime() + LIMIT_NS);
        } catch (Throwable ignored) {
            // The exception is what matters now.
        }
        previous.uncaughtException(t, e);
    }
}
