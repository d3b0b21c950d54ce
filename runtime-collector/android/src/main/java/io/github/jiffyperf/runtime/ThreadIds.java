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
    private boolean unsure;

    ThreadIds(Host host) {
        this.host = host;
    }

    /** Fills in tid and start time of those threads for which they can be told. */
    void resolve(ThreadBuffer[] live) {
        List<ThreadIdentity> wanted = wanted(live);
        unsure = false;
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
        long[] used = new long[wanted.size()];
        if (cpu.available()) {
            readCpuTimes(wanted, used, tasks);
        }
        for (int i = 0; i < used.length; i++) {
            resolve(wanted.get(i), used[i], tasks);
        }
    }

    /** Whether another look soon is likely to tell more. */
    boolean isUnsure() {
        return unsure;
    }

    private void readCpuTimes(List<ThreadIdentity> wanted, long[] used, List<Task> tasks) {
        for (Task task : tasks) {
            task.readBefore();
        }
        for (int i = 0; i < used.length; i++) {
            used[i] = cpu.nanos(wanted.get(i).javaId);
        }
        for (Task task : tasks) {
            task.readAfter();
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

    private void resolve(ThreadIdentity t, long used, List<Task> tasks) {
        List<Task> named = new ArrayList<Task>();
        List<String> comms = comms(t);
        for (Task task : tasks) {
            if (comms.contains(task.comm)) {
                named.add(task);
            }
        }
        Task found = cpu.available() ? byCpuTime(t, used, named, tasks) : named.size() == 1 ? named.get(0) : null;
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

    /**
     * Among the tasks of the right name if there are any; a thread that was renamed by another one has kept its first name. The time of a
     * task that slept all the while must be the thread's to the nanosecond. One that ran is only known to lie between two readings: it must be
     * the only such task of the process, or the only one of its name twice.
     */
    private Task byCpuTime(ThreadIdentity t, long used, List<Task> named, List<Task> all) {
        if (used < 0) {
            return null;
        }
        boolean byName = !named.isEmpty();
        Task found = onlyPossible(used, byName ? named : all);
        if (found == null) {
            unsure |= byName;
            return null;
        }
        if (!found.ran()) {
            return byName || used >= FINGERPRINT_NS ? found : null;
        }
        if (byName && (found.tid == t.suspectedTid || found == onlyPossible(used, all))) {
            return found;
        }
        t.suspectedTid = byName ? found.tid : 0;
        unsure |= byName;
        return null;
    }

    private static Task onlyPossible(long used, List<Task> tasks) {
        Task found = null;
        for (Task task : tasks) {
            if (task.mayHaveUsed(used)) {
                if (found != null) {
                    return null;
                }
                found = task;
            }
        }
        return found;
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
        // schedstat before and after the JVM was asked for threads' times, and whether the task was running then.
        private String before = "";
        private String after = "";
        private boolean running;

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

        void readBefore() {
            before = schedstat();
        }

        /** First the state: of a task that is not running, schedstat is up to date. */
        void readAfter() {
            running = isRunning();
            after = schedstat();
        }

        private String schedstat() {
            try {
                return ProcFile.read(path("schedstat"));
            } catch (IOException e) {
                return "";
            }
        }

        private boolean isRunning() {
            try {
                String stat = ProcFile.read(path("stat"));
                return stat.startsWith("R", stat.lastIndexOf(')') + 2);
            } catch (IOException e) {
                return false;
            }
        }

        boolean ran() {
            return running || !before.equals(after);
        }

        boolean mayHaveUsed(long ns) {
            long from = ProcFile.firstNumber(before);
            long to = ProcFile.firstNumber(after);
            if (from < 0 || to < 0) {
                return false;
            }
            return ran() ? from <= ns && ns <= to + TICK_NS : ns == to;
        }

        String path(String file) {
            return TASKS + "/" + tid + "/" + file;
        }
    }
}
