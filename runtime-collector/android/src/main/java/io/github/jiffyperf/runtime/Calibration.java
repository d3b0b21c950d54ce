package io.github.jiffyperf.runtime;

import java.util.Arrays;
import java.util.Locale;

/**
 * Measures what a probe costs: the pair of calls that instrumentation puts into a method, and the part of it that falls inside the
 * duration it measures. The same code records as for the app, into a scratch buffer.
 */
final class Calibration {
    static final long START_NS = 30000000L;
    static final long EXPORT_NS = 3000000L;

    private static final int BATCH = 200;
    private static final int MAX_BATCHES = 1000;

    private Calibration() {}

    /**
     * Measures for so long on the current thread, one of jiffy's own; the result is a COST chunk's, or null if recording pauses for
     * lack of memory.
     */
    static PropertyText measure(Recorder recorder, String when, long limitNs) {
        ThreadBuffer scratch = recorder.scratchCurrentThread(Probes.autoClock());
        try {
            double[] pairs = new double[MAX_BATCHES];
            double[] inners = new double[MAX_BATCHES];
            int batches = 0;
            long deadline = System.nanoTime() + limitNs;
            while (batches < 2 || batches < MAX_BATCHES && System.nanoTime() - deadline < 0) {
                scratch.rewind();
                long start = System.nanoTime();
                callProbes();
                pairs[batches] = (double) (System.nanoTime() - start) / BATCH;
                if (scratch.used == 0) {
                    return null;
                }
                inners[batches] = meanDuration(scratch);
                batches++;
            }
            return new PropertyText()
                    .put("when", when)
                    .put("clock", Probes.autoClock() == Probes.NANO_TIME ? "nanoTime" : "elapsedRealtimeNanos")
                    .put("pairs", (long) batches * BATCH)
                    .put("pair_ns", decimal(medianOfLaterHalf(pairs, batches)))
                    .put("inner_ns", decimal(medianOfLaterHalf(inners, batches)));
        } finally {
            recorder.discardCurrentThread();
        }
    }

    private static void callProbes() {
        for (int i = 0; i < BATCH; i++) {
            long start = Probes.now();
            Probes.returned(start, 1);
        }
    }

    private static double meanDuration(ThreadBuffer scratch) {
        RecordCursor cursor = new RecordCursor(false);
        cursor.reset(scratch.block, 0, scratch.used);
        long sum = 0;
        int n = 0;
        while (cursor.next()) {
            sum += cursor.end - cursor.start;
            n++;
        }
        return n == 0 ? 0 : (double) sum / n;
    }

    /** The later half is nearer to what the app's compiled code costs; a median passes over interruptions. */
    private static double medianOfLaterHalf(double[] values, int n) {
        double[] later = Arrays.copyOfRange(values, n / 2, n);
        Arrays.sort(later);
        return later[later.length / 2];
    }

    private static String decimal(double ns) {
        return String.format(Locale.ROOT, "%.2f", ns);
    }
}
