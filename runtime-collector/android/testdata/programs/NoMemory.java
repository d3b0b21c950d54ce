import io.github.jiffyperf.runtime.Probes;

import java.util.ArrayList;
import java.util.List;

/**
 * Fills the heap, calls method 1 from new threads meanwhile, empties it again and calls method 2. Arg: ms for the runtime to start
 * before.
 */
public class NoMemory {
    static List<Object> hoard = new ArrayList<Object>(1 << 16);

    static void fill() {
        int size = 1 << 20;
        while (size > 16) {
            try {
                hoard.add(new byte[size]);
            } catch (OutOfMemoryError e) {
                size /= 2;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[20];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread("starved " + i) {
                @Override
                public void run() {
                    synchronized (NoMemory.class) {
                        for (int i = 0; i < 100; i++) {
                            Probes.returned(Probes.now(), 1);
                        }
                    }
                }
            };
        }
        Probes.returned(Probes.now(), 3);
        Thread.sleep(Integer.parseInt(args[0]));
        synchronized (NoMemory.class) {
            for (Thread t : threads) {
                t.start();
            }
            fill();
        }
        for (Thread t : threads) {
            t.join();
        }
        hoard = null;
        Thread.sleep(1500);
        for (int i = 0; i < 1000; i++) {
            Probes.returned(Probes.now(), 2);
        }
    }
}
