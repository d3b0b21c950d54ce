import io.github.jiffyperf.runtime.Probes;

/** Calls method 1 and ends in the way that the arg says; "hook" calls method 2 from a shutdown hook that takes a while, "late hook" from one that does so last. */
public class Ends {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread("a hook") {
                @Override
                public void run() {
                    for (int i = 0; i < 100; i++) {
                        Probes.returned(Probes.now(), 2);
                        try {
                            Thread.sleep(i < 50 ? 0 : 1);
                        } catch (InterruptedException e) {
                            return;
                        }
                    }
                }
            });
        }
        if (args[0].equals("late hook")) {
            Runtime.getRuntime().addShutdownHook(new Thread("a late hook") {
                @Override
                public void run() {
                    try {
                        Thread.sleep(700);
                        for (int i = 0; i < 100; i++) {
                            Probes.returned(Probes.now(), 2);
                        }
                        Thread.sleep(100);
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            });
        }
        Probes.returned(Probes.now(), 1);
        if (args[0].equals("exit")) {
            System.exit(7);
        }
        if (args[0].equals("exit elsewhere")) {
            new Thread("ending") {
                @Override
                public void run() {
                    System.exit(7);
                }
            }.start();
            while (true) {
                Probes.returned(Probes.now(), 2);
            }
        }
        if (args[0].equals("halt")) {
            Thread.sleep(2500);
            Runtime.getRuntime().halt(7);
        }
        if (args[0].equals("interrupting all")) {
            Thread[] threads = new Thread[100];
            int n = Thread.enumerate(threads);
            ThreadGroup root = Thread.currentThread().getThreadGroup().getParent();
            n = root.enumerate(threads);
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < n; i++) {
                    if (threads[i] != Thread.currentThread()) {
                        threads[i].interrupt();
                    }
                }
                Probes.returned(Probes.now(), 1);
                Thread.sleep(20);
            }
        }
    }
}
