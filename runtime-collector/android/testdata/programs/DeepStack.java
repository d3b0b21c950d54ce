import io.github.jiffyperf.runtime.Probes;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Arg: whether the runtime is first touched with the stack nearly full ("first") or before. Recurses until the stack overflows, many
 * times and from different depths, then makes 1000 calls of method 2 as usual. Prints how many calls of method 1 got as far as
 * their exit probe.
 */
public class DeepStack {
    static final AtomicLong exits = new AtomicLong();
    static long reached;

    static void down() {
        long start = Probes.now();
        try {
            down();
        } catch (Throwable t) {
            reached++;
            Probes.thrown(start, 1);
            throw t;
        }
        Probes.returned(start, 1);
    }

    static void downThen(int frames) {
        if (frames > 0) {
            downThen(frames - 1);
        } else {
            down();
        }
    }

    public static void main(String[] args) throws Exception {
        if (!args[0].equals("first")) {
            Probes.returned(Probes.now(), 3);
        }
        for (int i = 0; i < 50; i++) {
            final int frames = i;
            Thread t = new Thread(null, new Runnable() {
                @Override
                public void run() {
                    try {
                        downThen(frames);
                    } catch (StackOverflowError e) {
                        exits.incrementAndGet();
                    }
                }
            }, "deep " + i, 256 << 10);
            t.start();
            t.join();
        }
        if (exits.get() != 50) {
            throw new AssertionError("only " + exits + " threads saw the overflow");
        }
        // What a poisoned JDK class would break.
        new Thread(new Runnable() {
            @Override
            public void run() {}
        }).start();
        new ThreadLocal<String>().set(String.format("%s %d", "still", 1));
        for (int i = 0; i < 1000; i++) {
            Probes.returned(Probes.now(), 2);
        }
        System.out.println(reached);
    }
}
