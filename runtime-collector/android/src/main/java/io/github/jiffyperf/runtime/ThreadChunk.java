package io.github.jiffyperf.runtime;

import java.nio.ByteBuffer;

/** The payload of a THREAD chunk. */
final class ThreadChunk {
    private static final int MAX_NAME = 4096;

    private ThreadChunk() {}

    static void put(ThreadIdentity t, ByteBuffer payload) {
        byte[] name = Text.utf8(t.name);
        int length = Math.min(name.length, MAX_NAME);
        while (length < name.length && length > 0 && (name[length] & 0xC0) == 0x80) {
            length--;
        }
        payload.putLong(t.javaId);
        payload.putLong(t.tid);
        payload.putLong(t.startTime);
        payload.putInt(t.flags);
        payload.putInt(length);
        payload.put(name, 0, length);
    }
}
