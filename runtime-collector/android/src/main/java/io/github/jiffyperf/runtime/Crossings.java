package io.github.jiffyperf.runtime;

import java.util.Arrays;

/** Event records, all of them escapes, of calls that began before their thread's calls were folded; kept for the writer. */
final class Crossings {
    /** A cover and a call, each with a Java thread id. */
    private static final int MAX_WORDS = 10;
    /** As many words as one chunk takes. */
    private static final int LIMIT = ChunkFile.MAX_PAYLOAD / 8 - 1;

    private final boolean shared;
    long[] words = new long[8 * MAX_WORDS];
    int size;
    int records;
    int calls;

    Crossings(boolean shared) {
        this.shared = shared;
    }

    boolean hasRoom() {
        return size + MAX_WORDS <= LIMIT;
    }

    void cover(long start, long end, long covered, long javaId) {
        put((long) Block.ESCAPE << 14 | (long) Block.COVER << 2, start, end, covered, javaId);
    }

    void call(long start, long end, long id, int outcome, long javaId) {
        put(id << 16 | (long) Block.ESCAPE << 14 | (long) Block.CALL << 2 | outcome, start, end, 0, javaId);
        calls++;
    }

    private void put(long first, long start, long end, long last, long javaId) {
        if (size + MAX_WORDS > words.length) {
            words = Arrays.copyOf(words, 2 * words.length);
        }
        words[size++] = first;
        words[size++] = start;
        words[size++] = end;
        words[size++] = last;
        if (shared) {
            words[size++] = javaId;
        }
        records++;
    }

    void clear() {
        size = 0;
        records = 0;
        calls = 0;
    }
}
