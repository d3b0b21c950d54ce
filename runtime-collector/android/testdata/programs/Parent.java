import io.github.jiffyperf.runtime.Probes;

import java.io.File;

/** Calls method 1 and starts another JVM that calls method 2. */
public class Parent {
    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            Probes.returned(Probes.now(), 2);
            return;
        }
        Probes.returned(Probes.now(), 1);
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        Process child = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Parent", "child").inheritIO().start();
        System.exit(child.waitFor());
    }
}
