package android.os;

/** A device that has slept for 1000 s since it was booted. */
public final class SystemClock {
    public static long elapsedRealtime() {
        return elapsedRealtimeNanos() / 1000000;
    }

    public static long elapsedRealtimeNanos() {
        return System.nanoTime() + 1000000000000L;
    }
}
