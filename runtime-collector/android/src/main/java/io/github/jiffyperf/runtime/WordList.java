package io.github.jiffyperf.runtime;

import java.util.Arrays;

/** A growing array of words. */
final class WordList {
    long[] words = new long[1024];
    int size;

    void reserve(int more) {
        if (size + more > words.length) {
            words = Arrays.copyOf(words, Math.max(size + more, 2 * words.length));
        }
    }
}
