package io.github.jiffyperf.runtime;

import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Folds calls given on standard input. Args: fold start, whether shared, bound of rows. A line is: start end id outcome thread.
 * Prints the rows ({@code row} and its words), the exact records left ({@code exact} and their words) and the sums.
 */
public final class FoldCalls {
    public static void main(String[] args) throws Exception {
        boolean shared = Boolean.parseBoolean(args[1]);
        Folder folder = new Folder(shared, Long.parseLong(args[0]), new FoldLimits(Integer.parseInt(args[2])));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        String line;
        while ((line = in.readLine()) != null) {
            String[] f = line.split(" ");
            folder.fold(Long.parseLong(f[0]), Long.parseLong(f[1]), Long.parseLong(f[2]), Integer.parseInt(f[3]), Long.parseLong(f[4]));
        }
        print(folder, shared);
    }

    private static void print(Folder folder, boolean shared) {
        WordList words = new WordList();
        folder.put(words);
        StringBuilder out = new StringBuilder();
        for (int at = 0; at < words.size; at += FoldRow.words(words.words, at)) {
            out.append("row");
            for (int i = 0; i < FoldRow.words(words.words, at); i++) {
                out.append(' ').append(words.words[at + i]);
            }
            out.append('\n');
        }
        int width = shared ? 5 : 4;
        for (int at = 0; at < folder.crossings.size; at += width) {
            out.append("exact");
            for (int i = 0; i < width; i++) {
                out.append(' ').append(folder.crossings.words[at + i]);
            }
            out.append('\n');
        }
        out.append("sums ").append(folder.folded).append(' ').append(folder.dropped).append('\n');
        System.out.print(out);
    }
}
