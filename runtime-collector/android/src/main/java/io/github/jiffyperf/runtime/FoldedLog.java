package io.github.jiffyperf.runtime;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The snapshots of the folded calls, {@code folded-<name>-<slot>.jiffy}: all of them each time, in two files in turn, so that one is
 * whole whenever the process is killed.
 */
final class FoldedLog {
    private static final int SLOTS = 2;

    private final Host host;
    private final Settings settings;
    private final Clocks clocks;
    private final ByteBuffer chunk;
    private final WordList words = new WordList();
    private final List<ThreadBuffer> buffers = new ArrayList<ThreadBuffer>();
    private ThreadBuffer ended;
    private int endedRows;
    private long snapshots;
    private long written = -1;

    FoldedLog(Host host, Settings settings, Clocks clocks, ByteBuffer chunk) {
        this.host = host;
        this.settings = settings;
        this.clocks = clocks;
        this.chunk = chunk;
    }

    /** Takes note of a buffer whose calls are folded. */
    void add(ThreadBuffer b) {
        if (!b.inFoldedLog) {
            b.inFoldedLog = true;
            buffers.add(b);
        }
    }

    /**
     * Takes note that a buffer's thread has ended. Once ended threads fill half of the rows there may be, their rows are merged
     * into those of one entry that stands for all of them.
     */
    void end(ThreadBuffer b, Registry registry) {
        b.folder.end();
        endedRows += b.folder.rows();
        if (2 * endedRows < settings.maxAggregates) {
            return;
        }
        if (ended == null) {
            ended = registry.nameless("(ended threads)", b.clock);
            ended.folder = new Folder(false, Long.MIN_VALUE, new FoldLimits(Integer.MAX_VALUE));
            buffers.add(ended);
        }
        List<ThreadBuffer> kept = new ArrayList<ThreadBuffer>();
        for (ThreadBuffer candidate : buffers) {
            if (candidate != ended && candidate.head == null && candidate.folder.crossings.size == 0) {
                ended.folder.addAll(candidate.folder);
            } else {
                kept.add(candidate);
            }
        }
        buffers.clear();
        buffers.addAll(kept);
        endedRows = 0;
    }

    long folded() {
        long sum = 0;
        for (ThreadBuffer b : buffers) {
            sum += b.folder.folded;
        }
        return sum;
    }

    long dropped() {
        long sum = 0;
        for (ThreadBuffer b : buffers) {
            sum += b.folder.dropped;
        }
        return sum;
    }

    /** Writes a snapshot if calls have been folded since the last one. */
    void write(EventLog log, PropertyText counters) throws IOException {
        long now = folded() + dropped();
        if (now == written) {
            return;
        }
        File file = new File(log.file.getParentFile(), "folded-" + log.name + "-" + snapshots % SLOTS + ".jiffy");
        ChunkFile out = new ChunkFile(file, host.properties(settings).bytes(), clocks, chunk);
        try {
            for (ThreadBuffer b : buffers) {
                write(b, out);
            }
            out.properties(ChunkFile.COUNTERS, counters);
            out.properties(ChunkFile.END, new PropertyText().put("reason", "snapshot"));
        } finally {
            out.close();
        }
        snapshots++;
        written = now;
    }

    /** Writes the exact calls that folders have left, as far as the log takes them. */
    void writeCrossings(EventLog log) throws IOException {
        for (ThreadBuffer b : buffers) {
            b.awaitConsume();
            try {
                if (b.folder.crossings.size > 0) {
                    log.crossings(b);
                }
            } finally {
                b.endConsume();
            }
        }
    }

    private void write(ThreadBuffer b, ChunkFile out) throws IOException {
        words.size = 0;
        b.awaitConsume();
        try {
            b.folder.put(words);
        } finally {
            b.endConsume();
        }
        ThreadChunk.put(b.identity, out.begin());
        out.end(ChunkFile.THREAD, 0, b.index, 1);
        int at = 0;
        while (at < words.size) {
            at = writeRows(b, out, at);
        }
    }

    /** Writes one chunk of whole rows from the index on; returns the index after them. */
    private int writeRows(ThreadBuffer b, ChunkFile out, int from) throws IOException {
        int to = from;
        int rows = 0;
        while (to < words.size) {
            int next = to + FoldRow.words(words.words, to);
            if (8 * (next - from) > ChunkFile.MAX_PAYLOAD) {
                break;
            }
            to = next;
            rows++;
        }
        ByteBuffer payload = out.begin();
        payload.asLongBuffer().put(words.words, from, to - from);
        payload.position(payload.position() + 8 * (to - from));
        out.end(ChunkFile.FOLD, b.clock, b.index, rows);
        return to;
    }
}
