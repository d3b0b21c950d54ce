import io.github.jiffyperf.runtime.Probes;

/** Dies of uncaught exceptions: one on a thread of its own, one on the main thread. */
public class Uncaught {
    static void fail(String message) {
        long start = Probes.now();
        Probes.thrown(start, 1);
        throw new IllegalStateException(message);
    }

    public static void main(String[] args) throws Exception {
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
