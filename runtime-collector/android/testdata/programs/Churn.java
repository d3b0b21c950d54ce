import io.github.jiffyperf.runtime.Probes;

/** Args: threads, calls. So many threads, one after the other, each calling so many methods (1, 2, …) once. */
public class Churn {
    public static void main(String[] args) throws Exception {
        final int calls = Integer.parseInt(args[1]);
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            Thread t = new Thread("short-lived " + i) {
                @Override
                public void run() {
                    for (int id = 1; id <= calls; id++) {
                        Probes.returned(Probes.now(), id);
                    }
                }
            };
            t.start();
            t.join();
        }
    }
}
