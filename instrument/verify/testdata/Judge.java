import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Links classes and says what the virtual machine thinks of each.
 *
 * <p>Usage: {@code Judge CASES VERDICTS}. CASES holds, for each case, how many classes there are, and for each class its
 * name (as writeUTF), its length and its bytes; the first one is judged, the others are what it can see. A count of zero
 * means: the same others as before, and one class. VERDICTS gets a line for each case: {@code ok}, or the error with its
 * message on one line.
 */
public final class Judge {
  private Judge() {}

  /** Defines every class itself, so that all are in one run-time package. */
  private static final class Loader extends ClassLoader {
    private final String judged;
    private final byte[] bytes;
    private final Map<String, byte[]> others;

    Loader(String judged, byte[] bytes, Map<String, byte[]> others) {
      super(ClassLoader.getPlatformClassLoader());
      this.judged = judged;
      this.bytes = bytes;
      this.others = others;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] found = name.equals(judged) ? bytes : others.get(name);
      if (found == null) {
        throw new ClassNotFoundException(name);
      }
      return defineClass(name, found, 0, found.length);
    }
  }

  public static void main(String[] args) throws IOException {
    Map<String, byte[]> others = new HashMap<>();
    try (InputStream file = new BufferedInputStream(Files.newInputStream(Path.of(args[0])));
        DataInputStream in = new DataInputStream(file);
        PrintStream out = new PrintStream(args[1], StandardCharsets.UTF_8)) {
      while (true) {
        int count;
        try {
          count = in.readInt();
        } catch (EOFException end) {
          return;
        }
        String name = in.readUTF();
        byte[] bytes = in.readNBytes(in.readInt());
        if (count > 0) {
          others = new HashMap<>();
        }
        for (int i = 1; i < count; i++) {
          others.put(in.readUTF(), in.readNBytes(in.readInt()));
        }
        out.println(judge(new Loader(name, bytes, others), name).replace('\n', ' '));
      }
    }
  }

  private static String judge(ClassLoader loader, String name) {
    try {
      Class<?> judged = Class.forName(name, false, loader);
      judged.getDeclaredConstructors();
      judged.getDeclaredMethods(); // links interfaces, too
      return "ok";
    } catch (Throwable error) {
      return error.toString();
    }
  }
}
