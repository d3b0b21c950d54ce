import java.util.Enumeration;
import java.util.Hashtable;

/**
 * Finally blocks of all shapes, for a compiler that makes subroutines of them (jsr and ret, JVMS second edition §7.13). Java 1.3.
 *
 * Prints what the methods do, then how often each was left normally, as the caller counts it:
 * "expect class#method(descriptor) calls=N thrown=0". Methods with subroutines report no exceptions.
 */
public class Subroutines {
  private static final Hashtable RETURNED = new Hashtable();
  private static StringBuffer trace = new StringBuffer();
  private final long total;

  Subroutines(int n) {
    long sum = 0;
    try {
      sum = 100 / n;
    } finally {
      trace.append('c');
    }
    total = sum;
  }

  static int simple(int n) {
    try {
      return 12 / n;
    } finally {
      trace.append('s');
    }
  }

  static long nested(int n) {
    try {
      try {
        if (n == 1) {
          return 10L;
        }
        return 100L / n;
      } finally {
        trace.append('i');
        try {
          trace.append(7 / (n - 2));
        } finally {
          trace.append('j');
        }
      }
    } finally {
      trace.append('o');
    }
  }

  static double loop(int n) {
    double sum = 0.5;
    for (int i = 0; i < 5; i++) {
      try {
        if (i == n) {
          continue;
        }
        if (i > n + 2) {
          break;
        }
        sum += i;
        if (n == 4) {
          return sum * 2;
        }
      } finally {
        sum += 1.25;
      }
    }
    return sum;
  }

  static int overriding(int n) {
    try {
      return 1 / n;
    } finally {
      if (n < 2) {
        return -1;
      }
    }
  }

  static String caught(Object o) {
    String result = "none";
    try {
      result = o.toString();
    } catch (NullPointerException e) {
      result = "null";
      return result;
    } catch (ArithmeticException e) {
      result = e.getMessage();
      throw new IllegalStateException(result);
    } finally {
      trace.append(result);
    }
    return result + "!";
  }

  static int locked(Object lock, int n) {
    synchronized (lock) {
      try {
        if (n > 3) {
          return n;
        }
        synchronized (trace) {
          return 6 / n;
        }
      } finally {
        trace.append('l');
      }
    }
  }

  static int many(int n) {
    try {
      switch (n) {
        case 0:
          return 3;
        case 1:
          return 1;
        case 2:
          throw new IllegalStateException("two");
        case 3:
          break;
        default:
          return -n;
      }
      n += 20;
    } finally {
      for (int i = 0; i < 2; i++) {
        trace.append('m');
      }
    }
    return n;
  }

  static void empty(int n) {
    try {
      if (n == 2) {
        return;
      }
      simple(n);
    } finally {
      trace.append('e');
    }
  }

  private static void returned(String method) {
    int[] count = (int[]) RETURNED.get(method);
    if (count == null) {
      RETURNED.put(method, count = new int[1]);
    }
    count[0]++;
  }

  private static Object call(int method, final int n) {
    switch (method) {
      case 0:
        int i = simple(n);
        returned("simple(I)I");
        return new Integer(i);
      case 1:
        long l = nested(n);
        returned("nested(I)J");
        return new Long(l);
      case 2:
        double d = loop(n);
        returned("loop(I)D");
        return new Double(d);
      case 3:
        i = overriding(n);
        returned("overriding(I)I");
        return new Integer(i);
      case 4:
        Object o = n == 0 ? null : new Thrower(n);
        String s = caught(o);
        returned("caught(Ljava/lang/Object;)Ljava/lang/String;");
        return s;
      case 5:
        i = locked("lock", n);
        returned("locked(Ljava/lang/Object;I)I");
        return new Integer(i);
      case 6:
        i = many(n);
        returned("many(I)I");
        return new Integer(i);
      case 7:
        new Subroutines(n);
        returned("<init>(I)V");
        return "new";
      default:
        empty(n);
        returned("empty(I)V");
        if (n != 2) {
          returned("simple(I)I");
        }
        return "void";
    }
  }

  /** An object whose text is hard to get. */
  static class Thrower {
    private final int n;

    Thrower(int n) {
      this.n = n;
    }

    public String toString() {
      return "T" + 4 / (n - 3);
    }
  }

  public static void main(String[] args) {
    for (int round = 0; round < 50; round++) {
      for (int method = 0; method < 9; method++) {
        for (int n = 0; n < 6; n++) {
          String result;
          try {
            result = call(method, n).toString();
          } catch (RuntimeException e) {
            result = e.toString();
          }
          if (round == 0) {
            System.out.println(method + " " + n + " " + result + " " + trace);
          }
          trace.setLength(0);
        }
      }
    }
    for (Enumeration e = RETURNED.keys(); e.hasMoreElements(); ) {
      String method = (String) e.nextElement();
      System.out.println("expect Subroutines#" + method + " calls=" + ((int[]) RETURNED.get(method))[0] + " thrown=0");
    }
  }
}
