import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Links every class of a jar, without initialising any, and says how that went.
 *
 * <p>Usage: {@code LinkJar OUT JAR LIBRARY…}. Writes one line per class of JAR to OUT, {@code entry ok} or {@code entry error message}. What JAR
 * lacks is taken from the libraries, then from this VM. Classes below {@code META-INF/versions/N} see those of N first, as
 * a VM of that release would.
 */
public final class LinkJar {
  private static final String SUFFIX = ".class";

  private LinkJar() {}

  public static void main(String[] args) throws IOException {
    List<ZipFile> jars = new ArrayList<>();
    for (int i = 1; i < args.length; i++) {
      jars.add(new ZipFile(args[i]));
    }
    Map<String, Shelf> shelves = new HashMap<>();
    TreeMap<String, ZipEntry> entries = new TreeMap<>();
    jars.get(0).stream().filter(e -> e.getName().endsWith(SUFFIX)).forEach(e -> entries.put(e.getName(), e));
    try (PrintStream out = new PrintStream(args[0], "UTF-8")) {
      for (String entry : entries.keySet()) {
        String root = root(entry);
        Shelf shelf = shelves.computeIfAbsent(root, r -> new Shelf(r, jars));
        String name = entry.substring(root.length(), entry.length() - SUFFIX.length()).replace('/', '.');
        out.println(entry + " " + link(name, shelf));
      }
    }
  }

  /** The folder that a class's package starts in. */
  private static String root(String entry) {
    String versions = "META-INF/versions/";
    if (entry.startsWith(versions)) {
      return entry.substring(0, entry.indexOf('/', versions.length()) + 1);
    }
    return "";
  }

  private static String link(String name, Shelf shelf) {
    try {
      Class.forName(name, false, shelf).getDeclaredConstructors();
      return "ok";
    } catch (Throwable e) {
      return e.toString().lines().collect(Collectors.joining(" "));
    }
  }

  /** Loads the classes of jars ahead of those of the VM. */
  private static final class Shelf extends ClassLoader {
    private final String root;
    private final List<ZipFile> jars;

    Shelf(String root, List<ZipFile> jars) {
      super(LinkJar.class.getClassLoader());
      this.root = root;
      this.jars = jars;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        if (loaded == null && !name.startsWith("java.")) {
          byte[] classFile = read(name.replace('.', '/') + SUFFIX);
          loaded = classFile == null ? null : defineClass(name, classFile, 0, classFile.length);
        }
        return loaded == null ? super.loadClass(name, resolve) : loaded;
      }
    }

    private byte[] read(String path) {
      try {
        for (ZipFile jar : jars) {
          ZipEntry entry = jar.getEntry(root + path);
          if (entry == null) {
            entry = jar.getEntry(path);
          }
          if (entry != null) {
            return jar.getInputStream(entry).readAllBytes();
          }
        }
        return null;
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }
}
