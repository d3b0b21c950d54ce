import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes the classes of all modules of the running JDK into one jar, as MODULE/NAME.class. Reads them through the {@code
 * jrt:} file system, so that no jmod files are needed.
 *
 * <p>Usage: {@code Modules JAR}.
 */
public final class Modules {
  private Modules() {}

  public static void main(String[] args) throws IOException {
    Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules");
    List<Path> classes;
    try (Stream<Path> files = Files.walk(modules)) {
      classes =
          files.filter(file -> file.toString().endsWith(".class")).sorted().collect(Collectors.toList());
    }
    try (OutputStream file = Files.newOutputStream(Path.of(args[0]));
        ZipOutputStream out = new ZipOutputStream(file)) {
      out.setLevel(0);
      for (Path path : classes) {
        out.putNextEntry(new ZipEntry(modules.relativize(path).toString()));
        Files.copy(path, out);
        out.closeEntry();
      }
    }
  }
}
