package io.github.jiffyperf.runtime;

/** What the public API is made of. */
public final class Session {
    private static final long FLUSH_LIMIT_NS = 5000000000L;

    private Session() {}

    public static boolean isRunning() {
        return Probes.recorder() != null;
    }

    public static boolean flush() {
        Recorder r = Probes.recorder();
        return r != null && r.flush(System.nanoTime() + FLUSH_LIMIT_NS);
    }
}
