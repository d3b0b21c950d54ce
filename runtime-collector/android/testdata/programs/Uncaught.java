import io.github.jiffyperf.Jiffy;
import io.github.jiffyperf.runtime.Probes;

/** Waits until the runtime is ready, if it records, and dies of uncaught exceptions: one on a thread of its own, one on the main thread. */
public class Uncaught {
    static void fail(String message) {
        long start = Probes.now();
        Probes.thrown(start, 1);
        throw new IllegalStateException(message);
    }

    public static void main(String[] args) throws Exception {
        Probes.returned(Probes.now(), 2);
        for (int i = 0; i < 100 && !Jiffy.isRunning(); i++) {
            Thread.sleep(10);
        }
        Thread.sleep(200);
        if (Thread.getDefaultUncaughtExceptionHandler() != null) {
            System.out.println("somebody has set a default handler");
        }
        Thread t = new Thread("a thread (1)") {
            @Override
            public void run() {
                fail("on a thread");
            }
        };
        t.start();
        t.join();
        fail("on main");
    }
}
