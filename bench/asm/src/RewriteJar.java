import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** Rewrites a jar with {@link Timing} into a jar of stored entries. Usage: {@code RewriteJar IN OUT}. */
public final class RewriteJar {
  private RewriteJar() {}

  public static void main(String[] args) throws IOException {
    try (ZipFile in = new ZipFile(args[0]);
        ZipOutputStream out = new ZipOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(args[1])), 1 << 16))) {
      for (Enumeration<? extends ZipEntry> entries = in.entries(); entries.hasMoreElements(); ) {
        ZipEntry entry = entries.nextElement();
        byte[] data = in.getInputStream(entry).readAllBytes();
        store(out, entry, entry.getName().endsWith(".class") ? rewrite(data) : data);
      }
    }
  }

  /** Returns the rewritten class, or the class as it was if a method grew too large. */
  private static byte[] rewrite(byte[] classFile) {
    try {
      return Timing.rewrite(classFile);
    } catch (RuntimeException e) {
      return classFile;
    }
  }

  private static void store(ZipOutputStream out, ZipEntry like, byte[] data) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(data);
    ZipEntry entry = new ZipEntry(like.getName());
    entry.setTime(like.getTime());
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(data.length);
    entry.setCrc(crc.getValue());
    out.putNextEntry(entry);
    out.write(data);
    out.closeEntry();
  }
}
