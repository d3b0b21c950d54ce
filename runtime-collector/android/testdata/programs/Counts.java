import io.github.jiffyperf.runtime.Probes;

/** Args: threads, rounds. Each round is one call of method 1 that calls method 2 twice, of which one throws, and method 3 once. */
public class Counts {
    static void outer() {
        long start = Probes.now();
        inner(false);
        try {
            inner(true);
        } catch (IllegalStateException e) {
            leaf();
        }
        Probes.returned(start, 1);
    }

    static void inner(boolean fail) {
        long start = Probes.now();
        if (fail) {
            Probes.thrown(start, 2);
            throw FAILURE;
        }
        Probes.returned(start, 2);
    }

    static void leaf() {
        long start = Probes.now();
        Probes.returned(start, 3);
    }

    static final IllegalStateException FAILURE = new IllegalStateException();

    public static void main(String[] args) throws Exception {
        final int rounds = Integer.parseInt(args[1]);
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread("worker " + i) {
                @Override
                public void run() {
                    long start = Probes.now();
                    for (int r = 0; r < rounds; r++) {
                        outer();
                    }
                    Probes.returned(start, 4);
                }
            };
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
    }
}
