package io.github.jiffyperf.runtime;

import java.io.FileInputStream;
import java.io.IOException;

/** Reads small files of proc(5). Never called on an app's thread. */
final class ProcFile {
    private static final int FIELD_STARTTIME = 22;

    private ProcFile() {}

    /** The file's text, its bytes taken as ISO 8859-1 so that none is lost; 4 KiB at most. */
    static String read(String path) throws IOException {
        FileInputStream in = new FileInputStream(path);
        try {
            byte[] bytes = new byte[4096];
            int n = 0;
            int more;
            while (n < bytes.length && (more = in.read(bytes, n, bytes.length - n)) > 0) {
                n += more;
            }
            return new String(bytes, 0, n, "ISO-8859-1");
        } finally {
            in.close();
        }
    }

    /** Field 22, starttime, of a stat file (proc_pid_stat(5)); 0 if it can't be read. */
    static long startTime(String statPath) {
        try {
            String stat = read(statPath);
            // comm may hold blanks and parentheses: the fields after it start behind the last one.
            int at = stat.lastIndexOf(')') + 2;
            for (int field = 3; field < FIELD_STARTTIME; field++) {
                at = stat.indexOf(' ', at) + 1;
            }
            return Long.parseLong(stat.substring(at, stat.indexOf(' ', at)));
        } catch (IOException e) {
            return 0;
        } catch (RuntimeException e) {
            return 0;
        }
    }

    /** Field 1, ns on a CPU, of a schedstat file; -1 if it can't be read. */
    static long cpuNanos(String schedstatPath) {
        try {
            return firstNumber(read(schedstatPath));
        } catch (IOException e) {
            return -1;
        }
    }

    /** The number that the text starts with, up to a blank; -1 if there is none. */
    static long firstNumber(String text) {
        int blank = text.indexOf(' ');
        if (blank <= 0) {
            return -1;
        }
        try {
            return Long.parseLong(text.substring(0, blank));
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
