package io.github.jiffyperf.runtime;

import java.io.UnsupportedEncodingException;

/** The log's character set. */
final class Text {
    private Text() {}

    static byte[] utf8(String s) {
        try {
            return s.getBytes("UTF-8");
        } catch (UnsupportedEncodingException e) {
            throw new AssertionError(e);
        }
    }
}
