package io.github.jiffyperf.runtime;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * Finds the kernel threads of Java threads. Android tells a thread its tid; on a JVM there is no such call, and apps' threads don't read
 * procfs. So the writer compares the names in /proc/self/task with those of Java threads, and the CPU time that the kernel shows for
 * a task with what the JVM says of the thread. A thread for which that leaves a doubt keeps tid 0 until it does not.
 */
final class ThreadIds {
    private static final int MAX_PER_PASS = 256;
    /** The kernel brings a running thread's schedstat up to date at its ticks only. */
    private static final long TICK_NS = 10000000L;
    /** Less CPU time than this is no fingerprint. */
    private static final long FINGERPRINT_NS = 50000L;

    private static final String TASKS = "/proc/self/task";

    private final Host host;
    private final Map<Long, ThreadIdentity> claimed = new HashMap<Long, ThreadIdentity>();
    private ThreadCpu cpu;

    ThreadIds(Host host) {
        this.host = host;
    }

    /** Fills in tid and start time of those threads for which they can be told. */
    void resolve(ThreadBuffer[] live) {
        List<ThreadIdentity> wanted = wanted(live);
        if (wanted.isEmpty()) {
            return;
        }
        if (host.android) {
            for (ThreadIdentity t : wanted) {
                if (t.tid == 0) {
                    continue;
                }
                t.resolved(t.tid, ProcFile.startTime(TASKS + "/" + t.tid + "/stat"));
            }
            return;
        }
        dropEnded();
        if (cpu == null) {
            cpu = new ThreadCpu();
        }
        List<Task> tasks = unclaimedTasks();
        for (ThreadIdentity t : wanted) {
            resolve(t, tasks);
        }
    }

    private static List<ThreadIdentity> wanted(ThreadBuffer[] live) {
        List<ThreadIdentity> wanted = new ArrayList<ThreadIdentity>();
        long now = System.nanoTime();
        for (ThreadBuffer b : live) {
            ThreadIdentity t = b.identity;
            if (wanted.size() < MAX_PER_PASS && t.startTime == 0 && t.live() != null && t.tryNow(now)) {
                wanted.add(t);
            }
        }
        return wanted;
    }

    /** A kernel thread's tid is free again once the thread has ended. */
    private void dropEnded() {
        Iterator<ThreadIdentity> threads = claimed.values().iterator();
        while (threads.hasNext()) {
            if (threads.next().live() == null) {
                threads.remove();
            }
        }
    }

    private List<Task> unclaimedTasks() {
        List<Task> tasks = new ArrayList<Task>();
        String[] tids = new File(TASKS).list();
        for (int i = 0; tids != null && i < tids.length; i++) {
            long tid = Long.parseLong(tids[i]);
            if (!claimed.containsKey(tid)) {
                Task task = Task.read(tid);
                if (task != null) {
                    tasks.add(task);
                }
            }
        }
        return tasks;
    }

    private void resolve(ThreadIdentity t, List<Task> tasks) {
        List<Task> named = new ArrayList<Task>();
        List<String> comms = comms(t);
        for (Task task : tasks) {
            if (comms.contains(task.comm)) {
                named.add(task);
            }
        }
        Task found = cpu.available() ? byCpuTime(t, named, tasks) : named.size() == 1 ? named.get(0) : null;
        // Had the thread ended meanwhile, its tid could be another's by now.
        if (found == null || t.live() == null) {
            return;
        }
        long startTime = ProcFile.startTime(found.path("stat"));
        if (startTime != 0) {
            claimed.put(found.tid, t);
            tasks.remove(found);
            t.resolved(found.tid, startTime);
        }
    }

    /** Among the tasks of the right name if there are any; a thread that was renamed by another one has kept its first name. */
    private Task byCpuTime(ThreadIdentity t, List<Task> named, List<Task> all) {
        boolean byName = !named.isEmpty();
        List<Task> candidates = byName ? named : all;
        for (Task task : candidates) {
            task.before = ProcFile.cpuNanos(task.path("schedstat"));
        }
        long used = cpu.nanos(t.javaId);
        if (used < 0) {
            return null;
        }
        Task exact = null;
        Task possible = null;
        int exactCount = 0;
        int possibleCount = 0;
        for (Task task : candidates) {
            long after = ProcFile.cpuNanos(task.path("schedstat"));
            if (used == task.before && used == after) {
                exact = task;
                exactCount++;
            }
            if (task.before <= used && used <= after + TICK_NS) {
                possible = task;
                possibleCount++;
            }
        }
        if (exactCount == 1 && used >= FINGERPRINT_NS) {
            return exact;
        }
        return byName && possibleCount == 1 ? possible : null;
    }

    /** What the kernel may call the thread: HotSpot hands on the name's first 15 bytes, later versions its first 7 and last 6. */
    private static List<String> comms(ThreadIdentity t) {
        List<String> comms = new ArrayList<String>();
        String name = latin1(t.name);
        if (name.length() <= 15) {
            comms.add(name);
        } else {
            comms.add(name.substring(0, 15));
            comms.add(name.substring(0, 7) + ".." + name.substring(name.length() - 6));
        }
        if ((t.flags & ThreadIdentity.MAIN) != 0) {
            try {
                comms.add(Task.comm("/proc/self/comm"));
            } catch (IOException e) {
                return comms;
            }
        }
        return comms;
    }

    /** The bytes of the name's UTF-8 form as characters, as {@link ProcFile#read} has them. */
    private static String latin1(String name) {
        byte[] bytes = Text.utf8(name);
        char[] chars = new char[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            chars[i] = (char) (bytes[i] & 0xFF);
        }
        return new String(chars);
    }

    /** A kernel thread of this process. */
    private static final class Task {
        final long tid;
        final String comm;
        /** CPU time, ns, before the JVM was asked for a thread's. */
        long before;

        private Task(long tid, String comm) {
            this.tid = tid;
            this.comm = comm;
        }

        static Task read(long tid) {
            try {
                return new Task(tid, comm(TASKS + "/" + tid + "/comm"));
            } catch (IOException e) {
                return null;
            }
        }

        static String comm(String path) throws IOException {
            String line = ProcFile.read(path);
            return line.endsWith("\n") ? line.substring(0, line.length() - 1) : line;
        }

        String path(String file) {
            return TASKS + "/" + tid + "/" + file;
        }
    }
}
