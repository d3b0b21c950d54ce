package io.github.jiffyperf.runtime;

/** Consumes a buffer by folding what is in it; on the writer's thread, or on the producer's when memory has run out. */
final class Folding {
    /** Records between two looks at whether the producer waits: a small part of a large block, which takes a while to fold. */
    private static final int TURN = 1024;

    private Folding() {}

    /**
     * Folds all that is published, or less if the producer is waiting to do that itself. The caller holds the buffer's consumer
     * lock.
     */
    static void drain(ThreadBuffer b, Recorder recorder) {
        if (b.folder == null) {
            b.folder = new Folder(b.identity.isStripe(), b.lastExactEnd, recorder.foldLimits);
        }
        RecordCursor cursor = new RecordCursor(b.identity.isStripe());
        while (true) {
            Block block = b.head;
            Block next = block.next;
            boolean all = fold(b, block, block.get(), cursor);
            if (!all || next == null || b.producerWaits) {
                return;
            }
            b.head = next;
            recorder.pool.give(block);
        }
    }

    /** Folds what is left of a block, up to the word index; false if the producer has begun to wait before the end of it. */
    private static boolean fold(ThreadBuffer b, Block block, int to, RecordCursor cursor) {
        cursor.reset(block, block.drained, to);
        for (int n = 1; cursor.next(); n++) {
            block.drained = cursor.position();
            try {
                b.folder.fold(cursor.start, cursor.end, cursor.id, cursor.outcome, cursor.javaId);
            } catch (OutOfMemoryError e) {
                b.folder.dropped++;
            }
            if (n % TURN == 0 && b.producerWaits) {
                return false;
            }
        }
        return true;
    }
}
