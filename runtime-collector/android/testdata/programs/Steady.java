import io.github.jiffyperf.runtime.Probes;

import java.io.File;

/**
 * Args: calls of method 1 in each of ten rounds of 300 ms, and what happens after the third: "delete" deletes the log's
 * directory.
 */
public class Steady {
    public static void main(String[] args) throws Exception {
        for (int round = 0; round < 10; round++) {
            for (int i = 0; i < Integer.parseInt(args[0]); i++) {
                Probes.returned(Probes.now(), 1);
            }
            Thread.sleep(300);
            if (round == 3 && args.length > 1) {
                File dir = new File(System.getProperty("jiffy.log"));
                for (File f : dir.listFiles()) {
                    f.delete();
                }
                if (!dir.delete()) {
                    throw new AssertionError(dir + " not deleted");
                }
            }
        }
    }
}
