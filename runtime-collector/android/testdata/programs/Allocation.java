import com.sun.management.ThreadMXBean;
import io.github.jiffyperf.runtime.Probes;
import java.lang.management.ManagementFactory;

/** Prints the bytes that this thread allocated in 200,000 probe pairs, after a million for warming up. */
public class Allocation {
    static void calls(int n) {
        for (int i = 0; i < n; i++) {
            long start = Probes.now();
            Probes.returned(start, i & 15);
        }
    }

    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        calls(1000000);
        Thread.sleep(1500);
        threads.getThreadAllocatedBytes(id);
        long before = threads.getThreadAllocatedBytes(id);
        calls(200000);
        System.out.println(threads.getThreadAllocatedBytes(id) - before);
    }
}
