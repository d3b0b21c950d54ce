import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Links every class of some modules of the running JDK, without initialising any, and says how that went.
 *
 * <p>Usage: {@code Link OUT MODULE…}. Writes one line per class to OUT, {@code name ok} or {@code name error message}.
 * {@code Class.getDeclaredConstructors} links the class it is asked of: this is when HotSpot verifies it.
 */
public final class Link {
  private Link() {}

  public static void main(String[] args) throws IOException {
    Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules");
    try (PrintStream out = new PrintStream(args[0], "UTF-8")) {
      for (int i = 1; i < args.length; i++) {
        ClassLoader loader = ModuleLayer.boot().findModule(args[i]).get().getClassLoader();
        for (String name : names(modules.resolve(args[i]))) {
          out.print(name);
          out.print(' ');
          out.println(link(name, loader));
        }
      }
    }
  }

  private static String link(String name, ClassLoader loader) {
    try {
      Class.forName(name, false, loader).getDeclaredConstructors();
      return "ok";
    } catch (Throwable e) {
      return e.toString().lines().collect(Collectors.joining(" "));
    }
  }

  private static List<String> names(Path module) throws IOException {
    try (Stream<Path> files = Files.walk(module)) {
      return files
          .map(file -> module.relativize(file).toString())
          .filter(file -> file.endsWith(".class") && !file.equals("module-info.class"))
          .map(file -> file.substring(0, file.length() - ".class".length()).replace('/', '.'))
          .sorted()
          .collect(Collectors.toList());
    }
  }
}
