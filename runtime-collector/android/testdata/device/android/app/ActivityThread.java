package android.app;

import android.content.Context;

/** Knows the application once there is one. */
public final class ActivityThread {
    public static volatile Context application;

    public static Context currentApplication() {
        return application;
    }
}
