package io.github.jiffyperf.runtime;

import java.lang.reflect.Method;

/** A thread's CPU time as the JVM knows it: java.lang.management by reflection, since neither Android nor every runtime image has it. */
final class ThreadCpu {
    private Object threads;
    private Method cpuTime;

    ThreadCpu() {
        try {
            Class<?> bean = Class.forName("java.lang.management.ThreadMXBean");
            Object instance = Class.forName("java.lang.management.ManagementFactory").getMethod("getThreadMXBean").invoke(null);
            if ((Boolean) bean.getMethod("isThreadCpuTimeEnabled").invoke(instance)) {
                cpuTime = bean.getMethod("getThreadCpuTime", long.class);
                threads = instance;
            }
        } catch (Exception e) {
            threads = null;
        } catch (LinkageError e) {
            threads = null;
        }
    }

    boolean available() {
        return threads != null;
    }

    /** CPU time, ns; -1 if the thread has ended or the JVM does not know. */
    long nanos(long javaId) {
        try {
            return (Long) cpuTime.invoke(threads, javaId);
        } catch (Exception e) {
            return -1;
        }
    }
}
