import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AdviceAdapter;
import org.objectweb.asm.commons.Method;

/**
 * Method timing as one writes it with ASM: the clock at entry into a new local, a call of the runtime at every return,
 * and a catch-any handler that calls it and rethrows.
 *
 * <p>Does what jiffy's methods probe does, with what ASM offers for it: {@code ClassWriter} shares the reader's constant
 * pool, so that untouched methods are copied, {@code COMPUTE_MAXS} finds the stack size, and frames are kept
 * ({@code EXPAND_FRAMES}, since {@code LocalVariablesSorter} needs them so) instead of being computed anew.
 */
final class Timing extends ClassVisitor {
  private static final Type PROBES = Type.getObjectType("io/github/jiffyperf/runtime/Probes");
  private static final Method NOW = new Method("now", "()J");
  private static final Method RETURNED = new Method("returned", "(JJ)V");
  private static final Method THROWN = new Method("thrown", "(JJ)V");

  /** Methods that got the probe, over all classes. */
  static long methods;

  private Timing(ClassVisitor out) {
    super(Opcodes.ASM9, out);
  }

  /** Returns the class with the probe in all its methods that have code. */
  static byte[] rewrite(byte[] classFile) {
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(new Timing(writer), ClassReader.EXPAND_FRAMES);
    return writer.toByteArray();
  }

  @Override
  public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
    MethodVisitor out = super.visitMethod(access, name, descriptor, signature, exceptions);
    if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
      return out;
    }
    return new TimedMethod(out, access, name, descriptor, ++methods);
  }

  private static final class TimedMethod extends AdviceAdapter {
    private final long id;
    private final Label start = new Label();
    private int local = -1;

    TimedMethod(MethodVisitor out, int access, String name, String descriptor, long id) {
      super(Opcodes.ASM9, out, access, name, descriptor);
      this.id = id;
    }

    @Override
    protected void onMethodEnter() {
      if (local >= 0) {
        return; // a constructor with several super() calls: the first one in code order
      }
      invokeStatic(PROBES, NOW);
      local = newLocal(Type.LONG_TYPE);
      storeLocal(local);
      mark(start);
    }

    @Override
    protected void onMethodExit(int opcode) {
      if (opcode != ATHROW) {
        report(RETURNED);
      }
    }

    private void report(Method method) {
      loadLocal(local);
      push(id);
      invokeStatic(PROBES, method);
    }

    @Override
    public void visitMaxs(int maxStack, int maxLocals) {
      if (local >= 0) {
        Label handler = new Label();
        super.visitTryCatchBlock(start, handler, handler, null);
        mark(handler);
        Object[] locals = new Object[local + 1];
        java.util.Arrays.fill(locals, TOP);
        locals[local] = LONG;
        mv.visitFrame(F_NEW, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
        report(THROWN);
        mv.visitInsn(ATHROW);
      }
      super.visitMaxs(maxStack, maxLocals);
    }
  }
}
