package bench;

import io.github.jiffyperf.runtime.Probes;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** What one probed call costs on top of the call itself, next to two bare clock reads. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ProbeCost {
  private static final long ID = 0x123456789ABCL;
  private int value = 7;

  /** The call alone. */
  @Benchmark
  public int call() {
    return body(value);
  }

  /** The call between two clock reads, whose difference is used. */
  @Benchmark
  public long twoClockReads() {
    return timed(value);
  }

  /** The call with what {@code jiffy instrument} puts into it. */
  @Benchmark
  public int probe() {
    return probed(value);
  }

  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  private static int body(int x) {
    return x + 1;
  }

  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  private static long timed(int x) {
    long start = System.nanoTime();
    int result = x + 1;
    return System.nanoTime() - start + result;
  }

  @CompilerControl(CompilerControl.Mode.DONT_INLINE)
  private static int probed(int x) {
    long start = Probes.now();
    try {
      int result = x + 1;
      Probes.returned(start, ID);
      return result;
    } catch (Throwable e) {
      Probes.thrown(start, ID);
      throw e;
    }
  }
}
