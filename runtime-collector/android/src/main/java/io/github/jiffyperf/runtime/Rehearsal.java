package io.github.jiffyperf.runtime;

import java.util.concurrent.locks.LockSupport;

/**
 * Goes through everything an app's thread may come to do in here, once, on jiffy's thread: the classes are loaded and initialised
 * here, so that none is left half done by an app's thread that runs out of stack or memory.
 */
final class Rehearsal {
    private static final int EVENTS = BlockPool.SMALLEST_EVENTS + 2;

    private Rehearsal() {}

    static void run() {
        rehearse(Settings.rehearsal(1L << 20));
        rehearse(Settings.rehearsal(0));
        LockSupport.unpark(Thread.currentThread());
    }

    private static void rehearse(Settings settings) {
        Recorder recorder = new Recorder(settings, new ThreadLocal<ThreadBuffer>());
        for (long i = 0; i < EVENTS; i++) {
            recorder.record(i, i + 1, i & 3, Probes.RETURNED, Probes.NANO_TIME);
        }
        recorder.record(0, 1L << 50, 1, Probes.THROWN, Probes.NANO_TIME);
        recorder.record(-10, EVENTS, 1, Probes.THROWN, Probes.ELAPSED_REALTIME);
        recorder.rehearseVirtual(EVENTS);
        recorder.discardCurrentThread();
        recorder.record(0, 1, 1, Probes.RETURNED, Probes.NANO_TIME);
        for (ThreadBuffer b : recorder.registry.live()) {
            b.lastExactEnd = 0;
            if (b.tryConsume()) {
                Folding.drain(b, recorder);
                b.endConsume();
            }
        }
        recorder.scratchCurrentThread(Probes.NANO_TIME);
        recorder.record(0, 1L << 50, 1, Probes.RETURNED, Probes.NANO_TIME);
    }
}
