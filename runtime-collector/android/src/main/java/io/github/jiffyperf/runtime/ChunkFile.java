package io.github.jiffyperf.runtime;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32;

/**
 * One file of the event log: a header, then chunks with checksums (docs/event-log.md). A chunk is put together in memory and
 * written at once; if that fails, what was written of it is cut off again. One thread uses it.
 *
 * <p>Plain file writes, not a channel: an app that interrupts every thread it finds would close a channel.
 */
final class ChunkFile {
    static final int THREAD = 1;
    static final int EVENTS = 2;
    static final int SHARED = 3;
    static final int COUNTERS = 4;
    static final int COST = 5;
    static final int OPEN = 6;
    static final int FOLD = 7;
    static final int PHASE = 8;
    static final int END = 9;

    static final int NO_THREAD = -1;
    static final int MAX_PAYLOAD = 1 << 20;

    private static final int FORMAT_VERSION = 1;
    private static final int CHUNK_HEADER = 64;
    private static final int CHUNK_MAGIC = 'C' | 'H' << 8 | 'N' << 16 | 'K' << 24;

    private final RandomAccessFile out;
    private final Clocks clocks;
    private final CRC32 crc = new CRC32();
    private final ByteBuffer chunk;
    private long length;
    private long sequence;

    /** Opens a file and starts it over; chunks are put together in the buffer, see {@link #newChunkBuffer}. */
    ChunkFile(File file, byte[] properties, Clocks clocks, ByteBuffer chunk) throws IOException {
        this.clocks = clocks;
        this.chunk = chunk;
        this.out = new RandomAccessFile(file, "rw");
        boolean done = false;
        try {
            out.setLength(0);
            writeHeader(properties);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** Memory to put chunks together in; files that are written in turn can share it. */
    static ByteBuffer newChunkBuffer() {
        return ByteBuffer.allocate(CHUNK_HEADER + MAX_PAYLOAD + 4096).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void writeHeader(byte[] properties) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(24 + properties.length).order(ByteOrder.LITTLE_ENDIAN);
        header.put(Text.utf8("JIFFYLOG")).putInt(FORMAT_VERSION).putInt(properties.length).put(properties);
        crc.reset();
        crc.update(header.array(), 0, header.position());
        header.putInt((int) crc.getValue());
        append(header.array(), header.array().length);
    }

    long length() {
        return length;
    }

    /** Starts a chunk; its payload goes into the buffer that is returned. */
    ByteBuffer begin() {
        chunk.clear();
        chunk.position(CHUNK_HEADER);
        return chunk;
    }

    /** Ends the chunk that was begun, and writes it. */
    void end(int type, int clock, int threadIndex, int records) throws IOException {
        while ((chunk.position() & 7) != 0) {
            chunk.put((byte) 0);
        }
        int size = chunk.position();
        clocks.read();
        chunk.putInt(0, CHUNK_MAGIC);
        chunk.put(4, (byte) type);
        chunk.put(5, (byte) clock);
        chunk.putShort(6, (short) 0);
        chunk.putInt(8, size - CHUNK_HEADER);
        chunk.putInt(12, 0);
        chunk.putLong(16, sequence);
        chunk.putLong(24, clocks.mono);
        chunk.putLong(32, clocks.boot);
        chunk.putLong(40, clocks.wall);
        chunk.putLong(48, clocks.uncertainty);
        chunk.putInt(56, threadIndex);
        chunk.putInt(60, records);
        crc.reset();
        crc.update(chunk.array(), 0, size);
        chunk.putInt(12, (int) crc.getValue());
        append(chunk.array(), size);
        sequence++;
    }

    /** Writes a whole chunk of properties; what doesn't fit a chunk is an error. */
    void properties(int type, PropertyText properties) throws IOException {
        properties(type, 0, NO_THREAD, properties);
    }

    void properties(int type, int clock, int threadIndex, PropertyText properties) throws IOException {
        byte[] bytes = properties.bytes();
        if (bytes.length > MAX_PAYLOAD) {
            throw new IOException("properties of " + bytes.length + " bytes in one chunk");
        }
        begin().put(bytes);
        end(type, clock, threadIndex, 1);
    }

    private void append(byte[] bytes, int size) throws IOException {
        boolean done = false;
        try {
            out.write(bytes, 0, size);
            length += size;
            done = true;
        } finally {
            if (!done) {
                cutOff();
            }
        }
    }

    private void cutOff() {
        try {
            out.setLength(length);
            out.seek(length);
        } catch (IOException e) {
            // The reader passes over what is left of the chunk.
        }
    }

    void close() {
        try {
            out.close();
        } catch (IOException e) {
            // Nothing is buffered on our side.
        }
    }
}
