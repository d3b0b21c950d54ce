package io.github.jiffyperf.runtime;

/** Stands in for the in-app runtime where even java.lang.Object has probes: calls nothing at all. */
public final class Probes {
  private Probes() {}

  public static long now() {
    return 0;
  }

  public static void returned(long start, long id) {}

  public static void thrown(long start, long id) {}
}
