package android.content;

import java.io.File;

/** What the runtime asks an application for. */
public class Context {
    public File getExternalFilesDir(String type) {
        return Boolean.getBoolean("no.external") ? null : new File(System.getProperty("files"), "external");
    }

    public File getFilesDir() {
        return new File(System.getProperty("files"), "internal");
    }
}
