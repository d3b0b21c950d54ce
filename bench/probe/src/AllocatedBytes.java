package bench;

import com.sun.management.ThreadMXBean;
import io.github.jiffyperf.runtime.Probes;
import java.lang.management.ManagementFactory;

/** Prints how many bytes this thread allocates over ten million probed calls, once warmed up. */
public final class AllocatedBytes {
  private static final int CALLS = 10_000_000;

  private AllocatedBytes() {}

  public static void main(String[] args) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    run(CALLS);
    long before = threads.getThreadAllocatedBytes(id);
    run(CALLS);
    long bytes = threads.getThreadAllocatedBytes(id) - before;
    System.out.println("calls " + CALLS);
    System.out.println("bytes " + bytes);
  }

  private static void run(int calls) {
    for (int i = 0; i < calls; i++) {
      long start = Probes.now();
      Probes.returned(start, 0x123456789ABCL);
    }
  }
}
