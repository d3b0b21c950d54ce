import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Writes the classes of a module of the running JDK into a jar of stored entries, in order of their names, without
 * {@code module-info.class}. Reads them through the {@code jrt:} file system, so that no jmod files are needed.
 *
 * <p>Usage: {@code ModuleJar MODULE JAR}. The module {@code all} is all of them.
 */
public final class ModuleJar {
  private ModuleJar() {}

  public static void main(String[] args) throws IOException {
    Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules");
    Map<String, Path> classes = new TreeMap<>();
    for (Path module : args[0].equals("all") ? list(root) : List.of(root.resolve(args[0]))) {
      try (Stream<Path> files = Files.walk(module)) {
        files
            .filter(file -> file.toString().endsWith(".class") && !file.endsWith("module-info.class"))
            .forEach(file -> classes.put(module.relativize(file).toString(), file));
      }
    }
    try (OutputStream file = Files.newOutputStream(Path.of(args[1]));
        ZipOutputStream out = new ZipOutputStream(file)) {
      for (Map.Entry<String, Path> entry : classes.entrySet()) {
        store(out, entry.getKey(), Files.readAllBytes(entry.getValue()));
      }
    }
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.collect(Collectors.toList());
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
