package io.github.jiffyperf.runtime;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;

/** The file of exact events, {@code events-<pid>-<starttime>-<n>.jiffy}. */
final class EventLog {
    private static final int MAX_FILES = 1000;

    /** Name of this runtime's files without the leading word: {@code <pid>-<starttime>-<n>}. */
    final String name;
    final File file;

    private final ChunkFile out;
    private long events;

    private EventLog(File file, String name, ChunkFile out) {
        this.file = file;
        this.name = name;
        this.out = out;
    }

    /** Creates a file that no other runtime has, and the directory if need be. */
    static EventLog create(File directory, Host host, Settings settings, Clocks clocks, ByteBuffer chunk) throws IOException {
        if (!directory.isDirectory() && !directory.mkdirs() && !directory.isDirectory()) {
            throw new IOException(directory + ": cannot be created as a directory");
        }
        for (int n = 0; n < MAX_FILES; n++) {
            String name = host.pid + "-" + host.startTime + "-" + n;
            File file = new File(directory, "events-" + name + ".jiffy");
            if (!createNew(file)) {
                continue;
            }
            boolean done = false;
            try {
                EventLog log = new EventLog(file, name, new ChunkFile(file, host.properties(settings).bytes(), clocks, chunk));
                done = true;
                return log;
            } finally {
                if (!done) {
                    file.delete();
                }
            }
        }
        throw new IOException(directory + ": already holds " + MAX_FILES + " logs of process " + host.pid);
    }

    private static boolean createNew(File file) throws IOException {
        try {
            return file.createNewFile();
        } catch (IOException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** Bytes in the file. */
    long length() {
        return out.length();
    }

    /** Calls in the file. */
    long events() {
        return events;
    }

    /** Writes go on without error when a file has been deleted, but nobody will find them. */
    void check() throws IOException {
        if (!file.exists()) {
            throw new IOException(file + ": was deleted");
        }
    }

    void thread(ThreadBuffer b) throws IOException {
        ThreadChunk.put(b.identity, out.begin());
        out.end(ChunkFile.THREAD, 0, b.index, 1);
        b.writtenVersion = b.identity.version;
    }

    /** Writes what the consumer has not yet taken of a block, up to the word index, and advances the consumer. */
    void events(ThreadBuffer b, Block block, int to) throws IOException {
        int from = block.drained;
        boolean shared = b.identity.isStripe();
        RecordCursor cursor = new RecordCursor(shared);
        cursor.scan(block, from, to);
        ByteBuffer payload = out.begin();
        payload.putLong(block.base);
        payload.asLongBuffer().put(block.words, from, to - from);
        payload.position(payload.position() + 8 * (to - from));
        out.end(shared ? ChunkFile.SHARED : ChunkFile.EVENTS, b.clock, b.index, cursor.records);
        block.drained = to;
        b.lastExactEnd = Math.max(b.lastExactEnd, cursor.maxEnd);
        events += cursor.records;
    }

    /** Writes the calls, and covers, that the buffer's folder left exact, and forgets them there. */
    void crossings(ThreadBuffer b) throws IOException {
        if (b.writtenVersion != b.identity.version) {
            thread(b);
        }
        Crossings crossings = b.folder.crossings;
        ByteBuffer payload = out.begin();
        payload.putLong(0);
        payload.asLongBuffer().put(crossings.words, 0, crossings.size);
        payload.position(payload.position() + 8 * crossings.size);
        out.end(b.identity.isStripe() ? ChunkFile.SHARED : ChunkFile.EVENTS, b.clock, b.index, crossings.records);
        events += crossings.calls;
        crossings.clear();
    }

    void properties(int type, PropertyText properties) throws IOException {
        out.properties(type, properties);
    }

    /** Properties with times on the clock, or of the thread of the index. */
    void properties(int type, int clock, int threadIndex, PropertyText properties) throws IOException {
        out.properties(type, clock, threadIndex, properties);
    }

    void end(String reason, String message) throws IOException {
        out.properties(ChunkFile.END, new PropertyText().put("reason", reason).put("message", message));
    }
}
