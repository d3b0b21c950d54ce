import io.github.jiffyperf.runtime.Probes;

/** Calls with unusual times and outcomes, on a thread of each kind. */
public class Odd {
    enum Other { COROUTINE_SUSPENDED }

    public static void main(String[] args) throws Exception {
        long now = Probes.now();
        Probes.returned(now - (1L << 40), 1);
        Probes.thrown(now - (1L << 38), 2);
        Probes.returned(now - (1L << 38) + 1000000000L, 3);
        Probes.returned(Long.MIN_VALUE + 1 - 1, 4);
        Probes.returned(Probes.now(), (1L << 48) - 1);
        Probes.returnedNanoTime(System.nanoTime(), 5);
        Probes.thrownNanoTime(System.nanoTime(), 5);
        Object suspended = Class.forName("kotlin.coroutines.intrinsics.CoroutineSingletons").getEnumConstants()[0];
        Object resumed = Class.forName("kotlin.coroutines.intrinsics.CoroutineSingletons").getEnumConstants()[1];
        Object[] results = {suspended, resumed, Other.COROUTINE_SUSPENDED, "COROUTINE_SUSPENDED", null, suspended};
        for (Object result : results) {
            Probes.returned(result, Probes.now(), 6);
            Probes.returnedNanoTime(result, System.nanoTime(), 7);
        }
    }
}
