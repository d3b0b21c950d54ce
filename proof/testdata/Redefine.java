import java.io.IOException;
import java.io.PrintStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * An agent that puts the classes of a jar in the place of those that the VM booted with, one after the other, and says
 * how that went. HotSpot verifies what it is given.
 *
 * <p>Usage: {@code -javaagent:AGENT=OUT,JAR}. Writes one line per class to OUT, {@code name ok}, {@code name error} or, where the VM
 * forbids it, {@code name unmodifiable}.
 */
public final class Redefine {
  private Redefine() {}

  public static void premain(String arguments, Instrumentation vm) throws IOException {
    String[] paths = arguments.split(",");
    Map<String, byte[]> classes = new LinkedHashMap<>();
    try (ZipFile jar = new ZipFile(paths[1])) {
      for (ZipEntry entry : java.util.Collections.list(jar.entries())) {
        String name = entry.getName();
        if (name.endsWith(".class")) {
          name = name.substring(0, name.length() - ".class".length()).replace('/', '.');
          classes.put(name, jar.getInputStream(entry).readAllBytes());
        }
      }
    }
    try (PrintStream out = new PrintStream(paths[0], "UTF-8")) {
      for (Map.Entry<String, byte[]> entry : classes.entrySet()) {
        out.println(entry.getKey() + " " + redefine(vm, entry.getKey(), entry.getValue()));
      }
    }
  }

  private static String redefine(Instrumentation vm, String name, byte[] classFile) {
    try {
      Class<?> there = Class.forName(name, false, null);
      if (!vm.isModifiableClass(there)) {
        return "unmodifiable";
      }
      vm.redefineClasses(new ClassDefinition(there, classFile));
      return "ok";
    } catch (Throwable e) {
      return e.toString().split("\n")[0];
    }
  }

  /** Does nothing: the agent has done it all before. */
  public static void main(String[] args) {}
}
