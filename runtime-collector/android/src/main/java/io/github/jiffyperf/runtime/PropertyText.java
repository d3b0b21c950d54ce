package io.github.jiffyperf.runtime;

/** Lines {@code key=value} as the log's headers and some of its chunks hold them. */
final class PropertyText {
    private final StringBuilder text = new StringBuilder();

    PropertyText put(String key, String value) {
        if (value == null) {
            return this;
        }
        text.append(key).append('=');
        for (int i = 0; i < value.length(); i++) {
            escape(value.charAt(i));
        }
        text.append('\n');
        return this;
    }

    PropertyText put(String key, long value) {
        text.append(key).append('=').append(value).append('\n');
        return this;
    }

    private void escape(char c) {
        switch (c) {
            case '\\':
                text.append("\\\\");
                break;
            case '\n':
                text.append("\\n");
                break;
            case '\r':
                text.append("\\r");
                break;
            default:
                text.append(c);
        }
    }

    int length() {
        return text.length();
    }

    /** UTF-8, padded with newlines to a multiple of 8. */
    byte[] bytes() {
        byte[] unpadded = Text.utf8(text.toString());
        byte[] padded = new byte[unpadded.length + 7 & ~7];
        System.arraycopy(unpadded, 0, padded, 0, unpadded.length);
        for (int i = unpadded.length; i < padded.length; i++) {
            padded[i] = '\n';
        }
        return padded;
    }
}
