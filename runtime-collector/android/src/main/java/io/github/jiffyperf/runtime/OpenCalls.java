package io.github.jiffyperf.runtime;

import java.io.IOException;
import java.util.Map;

/** What has begun and not ended when the log is exported: the stacks of the app's threads. */
final class OpenCalls {
    private static final int MAX_FRAMES = 256;
    private static final int MAX_CHARS = ChunkFile.MAX_PAYLOAD / 4;

    private OpenCalls() {}

    /** Writes the stacks; buffers tell the threads' indices. */
    static void write(EventLog log, ThreadBuffer[] buffers) throws IOException {
        long taken = System.nanoTime();
        for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet()) {
            Thread t = e.getKey();
            if (e.getValue().length > 0 && !t.getName().startsWith("jiffy-")) {
                log.properties(ChunkFile.OPEN, 0, index(t, buffers), stack(t, e.getValue(), taken));
            }
        }
    }

    private static int index(Thread t, ThreadBuffer[] buffers) {
        for (ThreadBuffer b : buffers) {
            if (b.identity.live() == t) {
                return b.index;
            }
        }
        return ChunkFile.NO_THREAD;
    }

    private static PropertyText stack(Thread t, StackTraceElement[] frames, long taken) {
        PropertyText text = new PropertyText()
                .put("taken_ns", taken)
                .put("java_id", ThreadIdentity.javaId(t))
                .put("name", t.getName())
                .put("state", t.getState().name())
                .put("depth", frames.length);
        for (int i = 0; i < frames.length && i < MAX_FRAMES && text.length() < MAX_CHARS; i++) {
            StackTraceElement f = frames[i];
            text.put("frame" + i, f.getClassName() + "#" + f.getMethodName() + ":" + f.getLineNumber());
        }
        return text;
    }
}
