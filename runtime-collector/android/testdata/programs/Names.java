import io.github.jiffyperf.runtime.Probes;

import java.io.File;
import java.util.concurrent.CountDownLatch;

/**
 * Threads of all kinds of names, alive for three seconds, some working and some waiting. Prints for each its tid as procfs shows it
 * to the thread itself, and its Java thread id. Arg: how many more threads of one name there are.
 */
public class Names {
    static volatile long sink;

    static void work(long ns) {
        long until = System.nanoTime() + ns;
        while (System.nanoTime() < until) {
            sink++;
        }
    }

    static void report() throws Exception {
        // /proc/thread-self is a link to <pid>/task/<tid>.
        String tid = new File("/proc/thread-self").getCanonicalFile().getName();
        synchronized (Names.class) {
            System.out.println(tid + " " + Thread.currentThread().getId());
        }
    }

    static void start(String name, final int i, final CountDownLatch done) {
        new Thread(name) {
            @Override
            public void run() {
                try {
                    report();
                    Probes.returned(Probes.now(), 1);
                    for (int round = 0; round < 30; round++) {
                        if (i % 2 == 0) {
                            work(1000000L * (i + 1));
                        }
                        Thread.sleep(95);
                        Probes.returned(Probes.now(), 1);
                    }
                } catch (Exception e) {
                    e.printStackTrace();
                } finally {
                    done.countDown();
                }
            }
        }.start();
    }

    public static void main(String[] args) throws Exception {
        String[] names = {
            "one", "same", "same", "same", "a name with blanks (and parentheses) 1", "a name with blanks (and parentheses) 2",
            "worker-with-a-long-name-17", "worker-with-a-long-name-17", "gr\u00f6\u00dfer als f\u00fcnfzehn Bytes", ") 1)",
        };
        CountDownLatch done = new CountDownLatch(names.length);
        report();
        Probes.returned(Probes.now(), 1);
        for (int i = 0; i < names.length; i++) {
            start(names[i], i, done);
        }
        Thread renamed = new Thread("before") {
            @Override
            public void run() {
                try {
                    report();
                    work(20000000L);
                    Thread.sleep(300);
                    Probes.returned(Probes.now(), 1);
                    Thread.sleep(2500);
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }
        };
        for (int i = 0; i < Integer.parseInt(args[0]); i++) {
            start("one of a crowd", 1, new CountDownLatch(1));
        }
        renamed.start();
        Thread.sleep(100);
        renamed.setName("after");
        done.await();
    }
}
