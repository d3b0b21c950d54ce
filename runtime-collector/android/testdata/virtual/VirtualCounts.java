import io.github.jiffyperf.runtime.Probes;

import java.util.ArrayList;
import java.util.List;

/** Args: virtual threads, rounds. Each round is one call of method 1 around two of method 2, and yields the carrier in between. */
public class VirtualCounts {
    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[1]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (int r = 0; r < rounds; r++) {
                    long outer = Probes.now();
                    long first = Probes.now();
                    Probes.returned(first, 2);
                    Thread.yield();
                    long second = Probes.now();
                    Probes.thrown(second, 2);
                    Probes.returned(outer, 1);
                }
            }));
        }
        for (Thread t : threads) {
            t.join();
        }
    }
}
