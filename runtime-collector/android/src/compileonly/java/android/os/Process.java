package android.os;

/** Signatures to compile against; the class itself comes from the device and is never packaged. */
public class Process {
    private Process() {}

    public static native int myPid();

    public static native int myTid();
}
