import java.io.IOException;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Locale;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Times {@link Timing#rewrite} over the classes of a jar, held in memory, in this thread.
 *
 * <p>Usage: {@code Rewrite JAR}. Prints one line {@code name value} for each of: {@code classes}, {@code methods},
 * {@code bytes}, {@code failed}, {@code passes}, {@code cold_mb_s} (the first pass of this JVM) and {@code warm_mb_s}
 * (the best pass). A megabyte is 10⁶ bytes of class file read. Passes are repeated until the best of the last five is
 * less than 2 % faster than the best before.
 */
public final class Rewrite {
  private static final int MOST_PASSES = 100;

  private Rewrite() {}

  public static void main(String[] args) throws IOException {
    List<byte[]> classes = read(args[0]);
    long bytes = 0;
    for (byte[] classFile : classes) {
      bytes += classFile.length;
    }
    List<Long> passes = new ArrayList<>();
    int failed = 0;
    do {
      Timing.methods = 0;
      long start = System.nanoTime();
      failed = pass(classes);
      passes.add(System.nanoTime() - start);
    } while (passes.size() < MOST_PASSES && gettingFaster(passes));
    print("classes", classes.size());
    print("methods", Timing.methods);
    print("bytes", bytes);
    print("failed", failed);
    print("passes", passes.size());
    print("cold_mb_s", bytes * 1e3 / passes.get(0));
    print("warm_mb_s", bytes * 1e3 / best(passes, 0, passes.size()));
  }

  /** Rewrites all classes once. Returns the number of those that ASM could not rewrite (a method grew past 64 KB). */
  private static int pass(List<byte[]> classes) {
    int failed = 0;
    for (byte[] classFile : classes) {
      try {
        Timing.rewrite(classFile);
      } catch (RuntimeException e) {
        failed++;
      }
    }
    return failed;
  }

  private static boolean gettingFaster(List<Long> passes) {
    int n = passes.size();
    return n < 10 || best(passes, n - 5, n) < 0.98 * best(passes, 0, n - 5);
  }

  private static long best(List<Long> passes, int from, int to) {
    return passes.subList(from, to).stream().mapToLong(Long::longValue).min().getAsLong();
  }

  private static List<byte[]> read(String jar) throws IOException {
    List<byte[]> classes = new ArrayList<>();
    try (ZipFile in = new ZipFile(jar)) {
      for (Enumeration<? extends ZipEntry> entries = in.entries(); entries.hasMoreElements(); ) {
        ZipEntry entry = entries.nextElement();
        if (entry.getName().endsWith(".class")) {
          classes.add(in.getInputStream(entry).readAllBytes());
        }
      }
    }
    return classes;
  }

  private static void print(String name, double value) {
    System.out.printf(Locale.ROOT, "%s %.2f%n", name, value);
  }

  private static void print(String name, long value) {
    System.out.println(name + " " + value);
  }
}
