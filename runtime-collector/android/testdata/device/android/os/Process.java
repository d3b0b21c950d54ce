package android.os;

import java.io.File;
import java.io.IOException;

/** The process as a device shows it. */
public class Process {
    public static int myPid() {
        return link("/proc/self");
    }

    public static int myTid() {
        return link("/proc/thread-self");
    }

    public static boolean isIsolated() {
        return Boolean.getBoolean("isolated");
    }

    private static int link(String path) {
        try {
            return Integer.parseInt(new File(path).getCanonicalFile().getName());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
