package io.github.jiffyperf.runtime;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** All buffers of the process that may still hold events, by thread index. */
final class Registry {
    private final List<ThreadBuffer> live = new ArrayList<ThreadBuffer>();
    /** Buffers of threads that recorded before jiffy was ready and have not recorded since. */
    private final Map<Thread, ThreadBuffer> adopted = new IdentityHashMap<Thread, ThreadBuffer>();
    private int nextIndex;

    synchronized ThreadBuffer add(ThreadIdentity identity, int clock, Block first) {
        ThreadBuffer b = ThreadBuffer.recording(clock, nextIndex, identity, first);
        live.add(b);
        nextIndex++;
        return b;
    }

    /** A buffer that no thread fills, with an index of its own. */
    synchronized ThreadBuffer nameless(String name, int clock) {
        return ThreadBuffer.recording(clock, nextIndex++, new ThreadIdentity(name, 0), null);
    }

    synchronized ThreadBuffer[] live() {
        return live.toArray(new ThreadBuffer[0]);
    }

    synchronized void remove(ThreadBuffer b) {
        live.remove(b);
    }

    /** How many buffers there have been. */
    synchronized int count() {
        return nextIndex;
    }

    synchronized void adopt(Thread t, ThreadBuffer b) {
        adopted.put(t, b);
    }

    synchronized ThreadBuffer adoption(Thread t) {
        return adopted.get(t);
    }

    /** The thread's buffer from before jiffy was ready, or null; it is handed out once. */
    synchronized ThreadBuffer adopted(Thread t) {
        return adopted.isEmpty() ? null : adopted.remove(t);
    }

    /** Lets go of adopted buffers whose threads have ended. */
    synchronized void dropEndedAdoptions() {
        java.util.Iterator<Thread> threads = adopted.keySet().iterator();
        while (threads.hasNext()) {
            if (!threads.next().isAlive()) {
                threads.remove();
            }
        }
    }
}
