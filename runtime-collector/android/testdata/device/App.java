import android.app.ActivityThread;
import android.content.Context;
import io.github.jiffyperf.Jiffy;
import io.github.jiffyperf.runtime.Probes;
import android.os.SystemClock;

/** An app on the made-up device: calls method 1 before there is an application, others after, and dies of an exception. */
public class App {
    public static void main(String[] args) throws Exception {
        System.setProperty("java.vm.name", "Dalvik");
        Thread.setDefaultUncaughtExceptionHandler(new Thread.UncaughtExceptionHandler() {
            @Override
            public void uncaughtException(Thread t, Throwable e) {
                System.out.println("dying of " + e.getMessage());
                Runtime.getRuntime().halt(3);
            }
        });
        for (int i = 0; i < 1000; i++) {
            Probes.returned(Probes.now(), 1);
        }
        Thread.sleep(200);
        ActivityThread.application = new Context();
        for (int i = 0; i < 1000; i++) {
            long millis = SystemClock.elapsedRealtime();
            long nanos = SystemClock.elapsedRealtimeNanos();
            Probes.returnedElapsedRealtimeNanos(nanos, 2);
            Probes.thrownElapsedRealtimeNanos(nanos, 2);
            Probes.returnedElapsedRealtime(millis, 3);
            Probes.thrownElapsedRealtime(millis, 3);
            Probes.returnedElapsedRealtime("", millis, 4);
            Probes.returnedElapsedRealtimeNanos("", nanos, 5);
        }
        Thread.sleep(Integer.parseInt(args[0]));
        System.out.println(Jiffy.isRunning() + " " + Jiffy.flush());
        Probes.thrown(Probes.now(), 6);
        throw new IllegalStateException("an exception");
    }
}
