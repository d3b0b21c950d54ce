package io.github.jiffyperf.runtime;

/** What other threads ask of the writer, and wait for. */
final class Requests {
    private final Writer writer;
    // Guarded by this.
    private long asked;
    private long served;
    private boolean export;
    private boolean succeeded;

    Requests(Writer writer) {
        this.writer = writer;
    }

    boolean flush(long deadlineNanos) {
        return ask(false, deadlineNanos);
    }

    boolean export(long deadlineNanos) {
        return ask(true, deadlineNanos);
    }

    private synchronized boolean ask(boolean withExport, long deadlineNanos) {
        long ticket = ++asked;
        export |= withExport;
        writer.wake();
        try {
            while (served < ticket) {
                long left = deadlineNanos - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                wait(left / 1000000L + 1);
            }
            return succeeded;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    synchronized boolean isExportAsked() {
        return export;
    }

    /** Does what has been asked for; called by the writer between drains. */
    void serve() {
        long ticket;
        boolean withExport;
        synchronized (this) {
            if (served == asked) {
                return;
            }
            ticket = asked;
            withExport = export;
            export = false;
        }
        boolean done = false;
        try {
            done = withExport ? writer.export() : writer.drainAll();
        } finally {
            synchronized (this) {
                served = ticket;
                succeeded = done;
                notifyAll();
            }
        }
    }
}
