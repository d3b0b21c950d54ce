import io.github.jiffyperf.runtime.Probes;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;

/** Has the runtime twice in one process: calls method 1 through one and method 2 through the other. */
public class TwoLoaders {
    public static void main(String[] args) throws Exception {
        Probes.returned(Probes.now(), 1);
        String[] path = System.getProperty("java.class.path").split(File.pathSeparator);
        URL[] urls = new URL[path.length];
        for (int i = 0; i < path.length; i++) {
            urls[i] = new File(path[i]).toURI().toURL();
        }
        Class<?> other = new URLClassLoader(urls, null).loadClass("io.github.jiffyperf.runtime.Probes");
        long start = (Long) other.getMethod("now").invoke(null);
        other.getMethod("returned", long.class, long.class).invoke(null, start, 2L);
        if (other == Probes.class) {
            throw new AssertionError("one class");
        }
    }
}
