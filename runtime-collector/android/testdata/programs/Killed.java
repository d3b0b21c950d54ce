import io.github.jiffyperf.runtime.Probes;

/** Calls method 1 a thousand times a second; prints how many calls have ended and when, ns, until it is killed. */
public class Killed {
    public static void main(String[] args) throws Exception {
        long n = 0;
        while (true) {
            Probes.returned(Probes.now(), 1);
            n++;
            Thread.sleep(1);
            if (n % 100 == 0) {
                System.out.println(n + " " + System.nanoTime());
            }
        }
    }
}
