package io.github.jiffyperf.runtime;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Jiffy's thread: takes events from all buffers at least once a second, and whenever a block has filled up, and writes them to
 * the log. All I/O of the runtime happens here; whoever wants something written asks and waits.
 */
final class Writer {
    private static final long INTERVAL_NS = 1000000000L;
    /** Between drains while the VM shuts down: hooks that end after jiffy's are recorded too. */
    private static final long CLOSING_INTERVAL_NS = 2000000L;

    /** Snapshots so large that writing them takes long are written less often: this many times as long passes in between. */
    private static final long SNAPSHOT_SHARE = 20;
    /** At least, between looking for kernel thread ids when threads start. */
    private static final long IDENTIFY_INTERVAL_NS = 20000000L;
    /** The same as a multiple of the time it took. */
    private static final long IDENTIFY_SHARE = 10;

    private final Recorder recorder;
    private final Settings settings;
    private final Host host;
    private final Clocks clocks;
    private final Thread thread = Thread.currentThread();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final Requests requests = new Requests(this);
    private final ByteBuffer chunk = ChunkFile.newChunkBuffer();
    private final ThreadIds threadIds;
    private final Counters counters;
    private final FoldedLog foldedLog;

    private EventLog log;
    private boolean closing;
    private boolean phaseWritten;
    /** What writing failed with, until the log says so. */
    private String failure;
    private String reported;
    /** Every call that ended before this, on the clock that probes choose, has been written exactly. */
    private long exactUntil;
    /** Calibrations that the log does not hold yet. */
    private final List<PropertyText> costs = new ArrayList<PropertyText>();
    private volatile long calls;
    private long nextSnapshot = System.nanoTime();
    private int knownThreads;
    private long nextIdentify = System.nanoTime();

    private Writer(Recorder recorder, Settings settings, Host host) {
        this.recorder = recorder;
        this.settings = settings;
        this.host = host;
        this.clocks = new Clocks(host.android);
        this.threadIds = new ThreadIds(host);
        this.counters = new Counters(recorder);
        this.foldedLog = new FoldedLog(host, settings, clocks, chunk);
    }

    /** Sets up the runtime on the current thread and writes until the process ends; returns if nothing is to be recorded. */
    static void start() {
        boolean android = Probes.isAndroid();
        Settings settings = Settings.read(android);
        Host host = new Host(android);
        if (settings.directory == null && !android) {
            Log.line("no log directory (set -Djiffy.log=DIR or JIFFY_LOG); nothing is recorded");
            Probes.close();
            return;
        }
        if (android && host.isIsolated()) {
            Log.line("isolated process " + host.pid + " may not write files; nothing is recorded");
            Probes.close();
            return;
        }
        Rehearsal.run();
        ThreadLocal<ThreadBuffer> local = new ThreadLocal<ThreadBuffer>();
        Recorder recorder = new Recorder(settings, local);
        recorder.discardCurrentThread();
        Writer writer = new Writer(recorder, settings, host);
        recorder.attach(writer);
        Probes.open(recorder, local);
        if (android) {
            CrashHandler.install(recorder);
        }
        writer.run();
    }

    /** Does not return: what can go wrong in a round, the lack of memory too, may be over in the next. */
    private void run() {
        boolean calibrated = false;
        long next = System.nanoTime();
        while (true) {
            try {
                if (System.nanoTime() - next >= 0) {
                    next = System.nanoTime() + (closing ? CLOSING_INTERVAL_NS : INTERVAL_NS);
                    drainAll(closing || System.nanoTime() - nextSnapshot >= 0);
                } else {
                    drainFullBlocks();
                    identifyNewThreads();
                }
                if (!calibrated && !closing && !requests.isExportAsked()) {
                    calibrated = true;
                    calibrate("start", Calibration.START_NS);
                }
                requests.serve();
                if (closing) {
                    next = Math.min(next, System.nanoTime() + CLOSING_INTERVAL_NS);
                }
                sleepUntil(wantsToIdentify() && nextIdentify - next < 0 ? nextIdentify : next);
            } catch (Throwable t) {
                recover(t);
            }
        }
    }

    private void calibrate(String when, long limitNs) {
        PropertyText cost = Calibration.measure(recorder, when, limitNs);
        if (cost != null) {
            costs.add(cost);
        }
    }

    private void recover(Throwable problem) {
        try {
            report(problem.toString());
            LockSupport.parkNanos(this, INTERVAL_NS / 10);
        } catch (Throwable t) {
            // Try again at once.
        }
    }

    private void sleepUntil(long time) {
        if (!woken.getAndSet(false)) {
            long left = time - System.nanoTime();
            if (left > 0) {
                LockSupport.parkNanos(this, left);
            }
            woken.set(false);
        }
        // Some app may interrupt every thread it finds; parking would no longer wait.
        Thread.interrupted();
    }

    /** Called from any thread. */
    void wake() {
        if (!woken.get() && woken.compareAndSet(false, true)) {
            LockSupport.unpark(thread);
        }
    }

    Requests requests() {
        return requests;
    }

    // ---- draining

    /** Writes, or folds, all that is published, with a snapshot of what is folded; false if it could not all be written. */
    boolean drainAll() {
        return drainAll(true);
    }

    private boolean drainAll(boolean snapshot) {
        long started = Probes.now();
        clocks.refine();
        openLog();
        for (ThreadBuffer b : recorder.registry.live()) {
            b.identity.refreshName();
            drain(b);
        }
        recorder.registry.dropEndedAdoptions();
        if (recorder.phase() == Recorder.EXACT && log != null) {
            exactUntil = started;
        }
        identifyThreads();
        return finishDrain(snapshot);
    }

    /** Takes what producers have finished with, soon enough that they need not go on to more memory. */
    private void drainFullBlocks() {
        if (log == null && recorder.phase() == Recorder.EXACT) {
            return;
        }
        for (ThreadBuffer b : recorder.registry.live()) {
            if (b.hasFullBlock()) {
                drain(b);
            }
        }
    }

    /** Finds kernel thread ids, and names threads in the log, while the threads still run. */
    private void identifyThreads() {
        ThreadBuffer[] live = recorder.registry.live();
        knownThreads = recorder.registry.count();
        try {
            threadIds.resolve(live);
        } catch (LinkageError e) {
            // A class of the JDK that came to be initialised when memory had run out: threads stay without a tid.
            report("cannot look up kernel thread ids: " + e);
        }
        if (log == null || recorder.phase() != Recorder.EXACT) {
            return;
        }
        try {
            for (ThreadBuffer b : live) {
                writeThread(b);
            }
        } catch (IOException e) {
            fail(e);
        }
    }

    private boolean wantsToIdentify() {
        return recorder.registry.count() != knownThreads || threadIds.isUnsure();
    }

    private void identifyNewThreads() {
        long now = System.nanoTime();
        if (wantsToIdentify() && now - nextIdentify >= 0) {
            identifyThreads();
            drainEnded();
            long taken = System.nanoTime() - now;
            nextIdentify = System.nanoTime() + Math.max(IDENTIFY_INTERVAL_NS, IDENTIFY_SHARE * taken);
        }
    }

    /** Where threads come and go in numbers, the memory of those that went is needed before the second is over. */
    private void drainEnded() {
        for (ThreadBuffer b : recorder.registry.live()) {
            if (!b.identity.isStripe() && b.identity.live() == null) {
                drain(b);
            }
        }
    }

    private void writeThread(ThreadBuffer b) throws IOException {
        if (b.writtenVersion != b.identity.version) {
            log.thread(b);
        }
    }

    private void drain(ThreadBuffer b) {
        boolean ended = !b.identity.isStripe() && b.identity.live() == null;
        boolean drained;
        b.awaitConsume();
        b.producerWaits = false; // one that still waits says so again
        try {
            drained = drainConsumed(b);
        } finally {
            b.endConsume();
        }
        if (b.folder != null) {
            foldedLog.add(b);
        }
        if (ended && drained) {
            b.release(recorder.pool);
            recorder.registry.remove(b);
            if (b.folder != null) {
                foldedLog.end(b, recorder.registry);
            }
        }
    }

    /** Whether the buffer is empty now; it stays as it is while nothing can be written and calls are not folded. */
    private boolean drainConsumed(ThreadBuffer b) {
        if (recorder.phase() == Recorder.EXACT) {
            if (log == null) {
                return false;
            }
            try {
                if (log.length() < settings.quotaBytes) {
                    writeExact(b);
                    return true;
                }
                recorder.startFolding("quota");
            } catch (IOException e) {
                fail(e);
            }
        }
        Folding.drain(b, recorder);
        return true;
    }

    private void writeExact(ThreadBuffer b) throws IOException {
        writeThread(b);
        while (true) {
            Block block = b.head;
            Block next = block.next;
            int to = block.get();
            if (to > block.drained) {
                log.events(b, block, to);
            }
            if (next == null || b.producerWaits) {
                return;
            }
            b.head = next;
            recorder.pool.give(block);
        }
    }

    /** Writes what belongs to no single thread. */
    private boolean finishDrain(boolean snapshot) {
        if (log == null) {
            return false;
        }
        try {
            log.check();
            if (failure != null) {
                log.end("write-error", failure);
                failure = null;
            }
            while (!costs.isEmpty()) {
                log.properties(ChunkFile.COST, costs.get(0));
                costs.remove(0);
            }
            PropertyText current = counters.read(log.events(), foldedLog, log.length());
            calls = log.events() + foldedLog.folded();
            if (counters.moved()) {
                log.properties(ChunkFile.COUNTERS, current);
                counters.written();
            }
            if (recorder.phase() == Recorder.FOLDED) {
                finishFolded(current, snapshot);
            }
            return true;
        } catch (IOException e) {
            fail(e);
            return false;
        }
    }

    private void finishFolded(PropertyText current, boolean snapshot) throws IOException {
        if (!phaseWritten) {
            PropertyText phase = new PropertyText().put("exact_until_ns", exactUntil).put("reason", recorder.foldReason());
            log.properties(ChunkFile.PHASE, Probes.autoClock(), ChunkFile.NO_THREAD, phase);
            phaseWritten = true;
        }
        foldedLog.writeCrossings(log);
        if (snapshot) {
            long started = System.nanoTime();
            foldedLog.write(log, current);
            nextSnapshot = System.nanoTime() + SNAPSHOT_SHARE * (System.nanoTime() - started);
        }
    }

    // ---- the log

    private void openLog() {
        if (log != null) {
            return;
        }
        File directory = settings.directory != null ? settings.directory : host.androidDirectory();
        if (directory == null) {
            return;
        }
        try {
            log = EventLog.create(directory, host, settings, clocks, chunk);
        } catch (IOException e) {
            report("cannot write the log: " + e.getMessage());
        }
    }

    /** From here on calls are folded in memory, and writing is tried again at each drain. */
    private void fail(IOException e) {
        String message = log.file + ": " + e.getMessage();
        if (failure == null) {
            failure = message;
        }
        recorder.startFolding("write-error");
        report("cannot write the log: " + message + "; calls are folded in memory");
    }

    /** Says what is wrong, once. */
    private void report(String problem) {
        if (reported == null) {
            reported = problem;
            Log.line(problem);
        }
    }

    /** Calls written or folded so far. */
    long calls() {
        return calls;
    }

    /** Completes the log with what is said at the end of a process; calls made later are written behind it. */
    boolean export() {
        calibrate("export", Calibration.EXPORT_NS);
        boolean done = drainAll();
        closing = true;
        if (log == null) {
            return false;
        }
        try {
            OpenCalls.write(log, recorder.registry.live());
            log.end("shutdown", null);
            return done;
        } catch (IOException e) {
            fail(e);
            return false;
        }
    }
}
