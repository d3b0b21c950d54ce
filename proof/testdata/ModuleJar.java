import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes the classes of a module of the running JDK into a jar of stored entries, in order of their names, without
 * {@code module-info.class}. Reads them through the {@code jrt:} file system, so that no jmod files are needed.
 *
 * <p>Usage: {@code ModuleJar MODULE JAR}.
 */
public final class ModuleJar {
  private ModuleJar() {}

  public static void main(String[] args) throws IOException {
    Path module = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules", args[0]);
    List<Path> classes;
    try (Stream<Path> files = Files.walk(module)) {
      classes =
          files
              .filter(file -> file.toString().endsWith(".class") && !file.endsWith("module-info.class"))
              .sorted()
              .collect(Collectors.toList());
    }
    try (OutputStream file = Files.newOutputStream(Path.of(args[1]));
        ZipOutputStream out = new ZipOutputStream(file)) {
      for (Path path : classes) {
        store(out, module.relativize(path).toString(), Files.readAllBytes(path));
      }
    }
  }

  private static void store(ZipOutputStream out, String name, byte[] data) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(data);
    ZipEntry entry = new ZipEntry(name);
    entry.setTime(315_619_200_000L); // 1980-01-02, for the same bytes each time
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(data.length);
    entry.setCrc(crc.getValue());
    out.putNextEntry(entry);
    out.write(data);
    out.closeEntry();
  }
}
