import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;

/**
 * Compares StackMapTables with those that ASM computes from the instructions alone.
 *
 * <ul>
 *   <li>{@code Frames normalise OUT JAR LIBRARY…} writes to OUT the classes of JAR whose frames ASM could compute, with those
 *       frames. Code that can't be reached becomes nop and athrow, as ASM does it.
 *   <li>{@code Frames compare OUT JAR LIBRARY…} lets ASM compute the frames of JAR once more, and writes one line to OUT for each
 *       kind of result: {@code kind count}; and one for each difference that is in no kind: {@code difference where: what}.
 * </ul>
 *
 * <p>Both times the hierarchy of classes comes from JAR and the libraries, then from this VM; a class that is nowhere counts as one that
 * directly extends Object, so that the answer is the same both times.
 */
public final class Frames {
  private static final String SUFFIX = ".class";
  private static final String OBJECT = "java/lang/Object";

  private final ZipFile jar;
  private final Map<String, ClassReader> known = new HashMap<>();
  private final Map<String, ZipFile> places = new HashMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();
  private final List<String> differences = new ArrayList<>();

  private Frames(List<ZipFile> jars) {
    jar = jars.get(0);
    Collections.reverse(jars);
    for (ZipFile place : jars) {
      place.stream().map(ZipEntry::getName).filter(n -> n.endsWith(SUFFIX)).forEach(n -> places.put(n, place));
    }
  }

  public static void main(String[] args) throws IOException {
    List<ZipFile> jars = new ArrayList<>();
    for (String path : Arrays.asList(args).subList(2, args.length)) {
      jars.add(new ZipFile(path));
    }
    Frames frames = new Frames(jars);
    if (args[0].equals("normalise")) {
      frames.normalise(Path.of(args[1]));
    } else {
      frames.compare(Path.of(args[1]));
    }
  }

  private List<String> classes() {
    Set<String> names = new TreeSet<>();
    jar.stream().map(ZipEntry::getName).filter(n -> n.endsWith(SUFFIX)).forEach(names::add);
    return new ArrayList<>(names);
  }

  private void normalise(Path to) throws IOException {
    try (OutputStream file = Files.newOutputStream(to);
        ZipOutputStream out = new ZipOutputStream(file)) {
      for (String name : classes()) {
        byte[] computed = compute(read(jar, name));
        if (computed != null) {
          store(out, name, computed);
        }
      }
    }
  }

  /** Returns a class with its frames computed anew; null if it has none, or has subroutines, or outgrows a limit. */
  private byte[] compute(byte[] classFile) {
    ClassReader reader = new ClassReader(classFile);
    if (reader.readUnsignedShort(6) < Opcodes.V1_6) {
      return null;
    }
    Writer writer = new Writer(reader);
    try {
      // With a visitor of methods in between ASM can't copy a method as it is.
      reader.accept(
          new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String desc, String signature, String[] exceptions) {
              return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, desc, signature, exceptions)) {};
            }
          },
          ClassReader.SKIP_FRAMES);
      return writer.toByteArray();
    } catch (RuntimeException e) {
      return null;
    }
  }

  private void compare(Path to) throws IOException {
    for (String name : classes()) {
      byte[] classFile = read(jar, name);
      byte[] computed = compute(classFile);
      if (computed == null) {
        count("classes that ASM can't compute", 1);
        continue;
      }
      count("classes", 1);
      ClassNode ours = parse(classFile);
      ClassNode theirs = parse(computed);
      for (int i = 0; i < ours.methods.size(); i++) {
        compare(name, ours.methods.get(i), theirs.methods.get(i));
      }
    }
    try (PrintStream out = new PrintStream(to.toFile(), "UTF-8")) {
      counts.forEach((kind, n) -> out.println(kind.replace(' ', '_') + " " + n));
      differences.forEach(d -> out.println("difference " + d));
    }
  }

  private static ClassNode parse(byte[] classFile) {
    ClassNode node = new ClassNode();
    new ClassReader(classFile).accept(node, ClassReader.EXPAND_FRAMES | ClassReader.SKIP_DEBUG);
    return node;
  }

  private void compare(String name, MethodNode ours, MethodNode theirs) {
    List<String> ourCode = new ArrayList<>();
    List<String> theirCode = new ArrayList<>();
    Map<Integer, Frame> ourFrames = frames(ours, ourCode);
    Map<Integer, Frame> theirFrames = frames(theirs, theirCode);
    if (ourCode.isEmpty()) {
      return;
    }
    count("methods", 1);
    String where = name + " " + ours.name + ours.desc;
    if (!ourCode.equals(theirCode)) {
      differences.add(where + ": ASM wrote other instructions");
      return;
    }
    int handler = lastHandler(ours);
    TreeSet<Integer> all = new TreeSet<>(ourFrames.keySet());
    all.addAll(theirFrames.keySet());
    for (int at : all) {
      count("frames", 1);
      Frame mine = ourFrames.get(at);
      Frame computed = theirFrames.get(at);
      Frame target = computed == null || computed.equals(mine) ? null : ourFrames.get(gotoTarget(ours, at));
      String kind = kind(mine, computed, at == handler, neverRuns(ourCode, at), target);
      count(kind, 1);
      if (kind.equals("different")) {
        differences.add(where + " at instruction " + at + ": " + mine + ", ASM has " + computed);
      }
    }
  }

  /** What a pair of frames is. Every kind but "different" is harmless. {@code target} is our frame where a goto leads that stands there, or null. */
  private static String kind(Frame ours, Frame theirs, boolean handler, boolean neverRuns, Frame target) {
    if (ours == null || theirs == null) {
      return "different";
    }
    if (ours.equals(theirs)) {
      return "equal";
    }
    if (!ours.stack.equals(theirs.stack)) {
      return "different";
    }
    if (ours.equals(target) && ours.says(theirs)) {
      return "goto on the way of a long branch says what its target says";
    }
    if (!ours.stack.equals(List.of("java/lang/Throwable")) || !ours.knowsOnlyALong()) {
      return "different";
    }
    if (handler && ours.says(theirs)) {
      return "handler of the probe says less of locals";
    }
    return neverRuns && theirs.locals.isEmpty() ? "unreachable code also knows the probe's long" : "different";
  }

  /** Where the goto at an instruction leads, as the number of an instruction; -1 if no goto is there. */
  private static int gotoTarget(MethodNode method, int at) {
    int n = 0;
    for (AbstractInsnNode node : method.instructions) {
      if (node.getOpcode() >= 0 && n++ == at) {
        return node.getOpcode() == Opcodes.GOTO ? numbers(method).get(((JumpInsnNode) node).label) : -1;
      }
    }
    return -1;
  }

  /** Tells whether ASM has put nothing but nop and athrow at an instruction: nothing gets there. */
  private static boolean neverRuns(List<String> code, int at) {
    int end = at;
    while (end < code.size() && code.get(end).equals(Integer.toString(Opcodes.NOP))) {
      end++;
    }
    return end < code.size() && code.get(end).equals(Integer.toString(Opcodes.ATHROW));
  }

  private void count(String kind, int n) {
    counts.merge(kind, n, Integer::sum);
  }

  /** The handler of the last row of the exception table, as the number of its first instruction; -1 without one. */
  private static int lastHandler(MethodNode method) {
    if (method.tryCatchBlocks.isEmpty()) {
      return -1;
    }
    TryCatchBlockNode last = method.tryCatchBlocks.get(method.tryCatchBlocks.size() - 1);
    return last.type == null ? numbers(method).get(last.handler) : -1;
  }

  /** Numbers labels by the instruction that follows them. */
  private static Map<LabelNode, Integer> numbers(MethodNode method) {
    Map<LabelNode, Integer> numbers = new HashMap<>();
    int n = 0;
    for (AbstractInsnNode node : method.instructions) {
      if (node instanceof LabelNode) {
        numbers.put((LabelNode) node, n);
      } else if (node.getOpcode() >= 0) {
        n++;
      }
    }
    return numbers;
  }

  /** Returns the frames of a method by the number of the instruction that they stand at, and lists its opcodes. */
  private static Map<Integer, Frame> frames(MethodNode method, List<String> code) {
    Map<LabelNode, Integer> numbers = numbers(method);
    Map<Integer, Frame> frames = new TreeMap<>();
    for (AbstractInsnNode node : method.instructions) {
      if (node instanceof FrameNode) {
        frames.put(code.size(), new Frame((FrameNode) node, numbers));
      } else if (node.getOpcode() >= 0) {
        code.add(Integer.toString(node.getOpcode()));
      }
    }
    return frames;
  }

  /** A frame in absolute form: one entry per local variable, a long or double takes two. */
  private static final class Frame {
    private static final String TOP = "top";
    final List<String> locals = new ArrayList<>();
    final List<String> stack = new ArrayList<>();

    Frame(FrameNode node, Map<LabelNode, Integer> numbers) {
      for (Object type : node.local) {
        locals.add(text(type, numbers));
        if (type == Opcodes.LONG || type == Opcodes.DOUBLE) {
          locals.add("second half");
        }
      }
      while (!locals.isEmpty() && locals.get(locals.size() - 1).equals(TOP)) {
        locals.remove(locals.size() - 1);
      }
      for (Object type : node.stack) {
        stack.add(text(type, numbers));
      }
    }

    private static String text(Object type, Map<LabelNode, Integer> numbers) {
      if (type instanceof LabelNode) {
        return "uninitialized by " + numbers.get(type);
      }
      if (type instanceof String) {
        return (String) type;
      }
      String[] names = {TOP, "int", "float", "double", "long", "null", "uninitializedThis"};
      return names[(Integer) type];
    }

    /** Tells whether every local that this frame knows is the same in another, which may know more. */
    boolean says(Frame other) {
      for (int i = 0; i < locals.size(); i++) {
        if (!locals.get(i).equals(TOP) && (i >= other.locals.size() || !locals.get(i).equals(other.locals.get(i)))) {
          return false;
        }
      }
      return true;
    }

    boolean knowsOnlyALong() {
      int n = locals.size();
      return n >= 2
          && locals.subList(0, n - 2).stream().allMatch(TOP::equals)
          && locals.subList(n - 2, n).equals(List.of("long", "second half"));
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Frame && ((Frame) o).locals.equals(locals) && ((Frame) o).stack.equals(stack);
    }

    @Override
    public int hashCode() {
      return 31 * locals.hashCode() + stack.hashCode();
    }

    @Override
    public String toString() {
      return locals + " " + stack;
    }
  }

  /** A writer that asks class files, not class loaders, for superclasses. */
  private final class Writer extends ClassWriter {
    Writer(ClassReader reader) {
      super(reader, ClassWriter.COMPUTE_FRAMES);
    }

    @Override
    protected String getCommonSuperClass(String a, String b) {
      if (isInterface(a) || isInterface(b)) {
        return OBJECT;
      }
      List<String> above = superclasses(a);
      for (String name : superclasses(b)) {
        if (above.contains(name)) {
          return name;
        }
      }
      return OBJECT;
    }
  }

  private boolean isInterface(String name) {
    ClassReader reader = find(name);
    return reader != null && (reader.getAccess() & Opcodes.ACC_INTERFACE) != 0;
  }

  private List<String> superclasses(String name) {
    List<String> names = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (String at = name; at != null && seen.add(at); ) {
      names.add(at);
      ClassReader reader = find(at);
      at = reader == null ? null : reader.getSuperName();
    }
    return names;
  }

  private ClassReader find(String name) {
    return known.computeIfAbsent(name, n -> {
      try {
        ZipFile place = places.get(n + SUFFIX);
        return place != null ? new ClassReader(read(place, n + SUFFIX)) : new ClassReader(n);
      } catch (IOException | IllegalArgumentException e) {
        return null;
      }
    });
  }

  private static byte[] read(ZipFile jar, String name) throws IOException {
    return jar.getInputStream(jar.getEntry(name)).readAllBytes();
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
