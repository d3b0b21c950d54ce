package io.github.jiffyperf.runtime;

import java.io.File;

/** The options of the runtime: system properties, else environment variables, else defaults. */
final class Settings {
    private static final long MB = 1L << 20;

    /** Where the log goes; null not known (on Android the app's own directory, found later). */
    final File directory;
    /** Bytes of exact events on disk, after which calls are folded. */
    final long quotaBytes;
    /** Bytes of events in memory that the writer has not written yet, after which calls are folded. */
    final long bufferBytes;
    /** Sizes of blocks, see {@link BlockPool}. */
    final int sizeClasses;
    /** Rows of (thread, method) once calls are folded. */
    final int maxAggregates;

    private Settings(File directory, long quotaBytes, long bufferBytes, int sizeClasses, int maxAggregates) {
        this.directory = directory;
        this.quotaBytes = quotaBytes;
        this.bufferBytes = bufferBytes;
        this.sizeClasses = sizeClasses;
        this.maxAggregates = maxAggregates;
    }

    static Settings read(boolean android) {
        String directory = option("jiffy.log", "JIFFY_LOG");
        return new Settings(
                directory == null ? null : new File(directory).getAbsoluteFile(),
                size("jiffy.quota", "JIFFY_QUOTA", android ? 64 * MB : 1024 * MB),
                size("jiffy.buffer", "JIFFY_BUFFER", android ? 8 * MB : 64 * MB),
                android ? 3 : 4,
                android ? 32768 : 262144);
    }

    /** For {@link Rehearsal}. */
    static Settings rehearsal(long bufferBytes) {
        return new Settings(null, 0, bufferBytes, 2, 16);
    }

    private static String option(String property, String variable) {
        String value = System.getProperty(property);
        if (value == null || value.isEmpty()) {
            value = System.getenv(variable);
        }
        return value == null || value.isEmpty() ? null : value;
    }

    private static long size(String property, String variable, long byDefault) {
        String value = option(property, variable);
        if (value == null) {
            return byDefault;
        }
        long bytes = parseSize(value);
        if (bytes < 0) {
            Log.line(property + "=" + value + " is not a size (a number of bytes, or one with k, m or g); using " + byDefault);
            return byDefault;
        }
        return bytes;
    }

    /** Bytes, or -1 if the text is not a size. */
    static long parseSize(String text) {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        int shift = shift(text.substring(digits));
        if (digits == 0 || digits > 15 || shift < 0) {
            return -1;
        }
        long number = Long.parseLong(text.substring(0, digits));
        return number > Long.MAX_VALUE >> shift ? -1 : number << shift;
    }

    private static int shift(String unit) {
        if (unit.isEmpty()) {
            return 0;
        }
        if (unit.length() > 1) {
            return -1;
        }
        int i = "kmgKMG".indexOf(unit.charAt(0));
        return i < 0 ? -1 : 10 * (i % 3 + 1);
    }
}
