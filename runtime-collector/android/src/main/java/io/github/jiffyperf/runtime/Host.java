package io.github.jiffyperf.runtime;

import android.os.Process;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;

/** The process the runtime is in: its identity, and the facts about it that the log's header names. */
final class Host {
    static final String RUNTIME_VERSION = "1";

    final boolean android;
    final long pid;
    /** Ticks since boot; 0 not known. */
    final long startTime;

    Host(boolean android) {
        this.android = android;
        this.pid = android ? Process.myPid() : jvmPid();
        this.startTime = ProcFile.startTime("/proc/self/stat");
    }

    private static long jvmPid() {
        try {
            return Long.parseLong(new File("/proc/self").getCanonicalFile().getName());
        } catch (IOException e) {
            return pidFromProcessHandle();
        } catch (NumberFormatException e) {
            return pidFromProcessHandle();
        }
    }

    /** For systems without procfs; Java 9 and later. */
    private static long pidFromProcessHandle() {
        try {
            Class<?> handle = Class.forName("java.lang.ProcessHandle");
            Object current = handle.getMethod("current").invoke(null);
            return (Long) handle.getMethod("pid").invoke(current);
        } catch (Exception e) {
            return 0;
        }
    }

    PropertyText properties(Settings settings) {
        return new PropertyText()
                .put("pid", pid)
                .put("starttime", startTime)
                .put("runtime_version", RUNTIME_VERSION)
                .put("start_wall_ns", System.currentTimeMillis() * 1000000L)
                .put("platform", android ? "android" : "jvm")
                .put("java_version", System.getProperty("java.version"))
                .put("java_vm", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"))
                .put("os_arch", System.getProperty("os.arch"))
                .put("java_class_path", System.getProperty("java.class.path"))
                .put("java_module_path", System.getProperty("jdk.module.path"))
                .put("user_dir", System.getProperty("user.dir"))
                .put("main_class", System.getProperty("sun.java.command"))
                .put("quota_bytes", settings.quotaBytes)
                .put("block_events", BlockPool.words(settings.sizeClasses - 1) / 2);
    }

    // ---- Android, by reflection: the public API offers an app's directories through a Context only

    /** Isolated processes may not write files. */
    boolean isIsolated() {
        try {
            return (Boolean) Process.class.getMethod("isIsolated").invoke(null);
        } catch (Exception e) {
            return false;
        }
    }

    /** The directory for the log in the app's own files, or null as long as the application does not exist. */
    File androidDirectory() {
        try {
            Class<?> activityThread = Class.forName("android.app.ActivityThread");
            Object application = activityThread.getMethod("currentApplication").invoke(null);
            if (application == null) {
                return null;
            }
            Class<?> context = Class.forName("android.content.Context");
            Method external = context.getMethod("getExternalFilesDir", String.class);
            File files = (File) external.invoke(application, (Object) null);
            if (files == null) {
                files = (File) context.getMethod("getFilesDir").invoke(application);
            }
            return files == null ? null : new File(files, "jiffy");
        } catch (Exception e) {
            return null;
        }
    }
}
