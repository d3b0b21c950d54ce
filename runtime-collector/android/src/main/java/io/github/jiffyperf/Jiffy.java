package io.github.jiffyperf;

import io.github.jiffyperf.runtime.Session;

/** Jiffy's runtime, for the app that it is in. Nothing here has an effect in a process that records nothing. */
public final class Jiffy {
    private Jiffy() {}

    /** Whether calls are recorded in this process. */
    public static boolean isRunning() {
        return Session.isRunning();
    }

    /**
     * Waits until everything recorded so far has been written to the log.
     *
     * @return false if that could not be done within five seconds
     */
    public static boolean flush() {
        return Session.flush();
    }
}
