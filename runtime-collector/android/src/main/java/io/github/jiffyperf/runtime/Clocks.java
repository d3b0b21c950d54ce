package io.github.jiffyperf.runtime;

import android.os.SystemClock;
import java.io.IOException;

/**
 * Reads CLOCK_MONOTONIC, CLOCK_BOOTTIME and wall time close together, for the log's chunks. One thread uses it.
 *
 * <p>A JVM has no call for CLOCK_BOOTTIME; /proc/uptime (proc_uptime(5)) shows it rounded down to 10 ms. Each reading bounds the
 * distance between the two clocks from both sides; the bounds of several readings are intersected, until they contradict
 * each other because the machine slept.
 */
final class Clocks {
    static final long UNKNOWN = -1;

    private static final long UPTIME_RESOLUTION_NS = 10000000L;
    private static final long WALL_RESOLUTION_NS = 1000000L;
    private static final long MAX_NEGATIVE_OFFSET_NS = 1000000000L;

    private final boolean android;
    /** Whether System.nanoTime is CLOCK_MONOTONIC. */
    private final boolean linux;
    /** Bounds of boottime - monotonic, ns; known once low <= high. */
    private long low = 1;
    private long high;

    long mono = UNKNOWN;
    long boot = UNKNOWN;
    long wall = UNKNOWN;
    long uncertainty;

    Clocks(boolean android) {
        this.android = android;
        this.linux = android || "Linux".equals(System.getProperty("os.name"));
    }

    /** Reads the clocks into the fields. */
    void read() {
        long before = System.nanoTime();
        wall = System.currentTimeMillis() * 1000000L;
        long bootNow = android ? SystemClock.elapsedRealtimeNanos() : UNKNOWN;
        long after = System.nanoTime();
        mono = linux ? before + (after - before) / 2 : UNKNOWN;
        uncertainty = after - before + WALL_RESOLUTION_NS;
        if (android) {
            boot = bootNow;
        } else if (low <= high) {
            boot = mono + low + (high - low) / 2;
            uncertainty = after - before + Math.max(WALL_RESOLUTION_NS, (high - low) / 2);
        } else {
            boot = UNKNOWN;
        }
    }

    /** Reads /proc/uptime once more; does nothing where CLOCK_BOOTTIME can be read directly or not at all. */
    void refine() {
        if (android || !linux) {
            return;
        }
        long before = System.nanoTime();
        long uptime = uptimeNanos();
        long after = System.nanoTime();
        // Some containers show their own uptime there, which isn't the clock that thread start times count from.
        if (uptime < 0 || uptime + UPTIME_RESOLUTION_NS < before - MAX_NEGATIVE_OFFSET_NS) {
            return;
        }
        long newLow = uptime - after;
        long newHigh = uptime + UPTIME_RESOLUTION_NS - before;
        boolean agrees = low <= high && Math.max(low, newLow) <= Math.min(high, newHigh);
        low = agrees ? Math.max(low, newLow) : newLow;
        high = agrees ? Math.min(high, newHigh) : newHigh;
    }

    private static long uptimeNanos() {
        try {
            String text = ProcFile.read("/proc/uptime");
            int space = text.indexOf(' ');
            int dot = text.indexOf('.');
            if (dot < 0 || space != dot + 3) {
                return UNKNOWN;
            }
            long hundredths = Long.parseLong(text.substring(0, dot)) * 100 + Long.parseLong(text.substring(dot + 1, space));
            return hundredths * 10000000L;
        } catch (IOException e) {
            return UNKNOWN;
        } catch (NumberFormatException e) {
            return UNKNOWN;
        }
    }
}
