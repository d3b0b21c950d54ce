package android.os;

/** Signatures to compile against; the class itself comes from the device and is never packaged. */
public final class SystemClock {
    private SystemClock() {}

    public static native long elapsedRealtime();

    public static native long elapsedRealtimeNanos();
}
