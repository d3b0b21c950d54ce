package io.github.jiffyperf.runtime;

/** What jiffy has to say to people: single lines on standard error (the system log on Android). */
final class Log {
    private Log() {}

    static void line(String message) {
        System.err.println("jiffy: " + message);
    }
}
