package io.github.jiffyperf.runtime;

import java.nio.charset.Charset;

/** The log's character set. */
final class Text {
    private static final Charset UTF_8 = Charset.forName("UTF-8");

    private Text() {}

    static byte[] utf8(String s) {
        return s.getBytes(UTF_8);
    }
}
