package io.github.jiffyperf.runtime;

/** The sums the log's COUNTERS chunk holds. Used by the writer only. */
final class Counters {
    private final Recorder recorder;
    private long sum = -1;
    private long writtenSum = -1;

    Counters(Recorder recorder) {
        this.recorder = recorder;
    }

    PropertyText read(long exactEvents, FoldedLog folded, long bytesWritten) {
        long dropped = Probes.lost() + recorder.dropped.get() + folded.dropped();
        long discarded = Probes.discardedOwn() + recorder.discardedOwn.get();
        long events = exactEvents + folded.folded();
        long threads = recorder.registry.count();
        sum = events + dropped + discarded + threads;
        return new PropertyText()
                .put("events", events)
                .put("dropped", dropped)
                .put("discarded_own", discarded)
                .put("folded", folded.folded())
                .put("threads", threads)
                .put("blocks", recorder.pool.blocks())
                .put("bytes_written", bytesWritten)
                .put("writer_cpu_ns", ProcFile.cpuNanos("/proc/thread-self/schedstat"));
    }

    /** Whether anything that was read differs from what the log holds. */
    boolean moved() {
        return sum != writtenSum;
    }

    void written() {
        writtenSum = sum;
    }
}
