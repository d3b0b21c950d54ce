package io.github.jiffyperf.runtime;

/** A hash table from long to object, with open addressing; values are never null and are not removed one by one. */
final class LongMap<V> {
    private long[] keys = new long[16];
    private Object[] values = new Object[16];
    private int size;

    @SuppressWarnings("unchecked")
    V get(long key) {
        return (V) values[slot(key)];
    }

    void put(long key, V value) {
        int slot = slot(key);
        if (values[slot] == null) {
            if (2 * (size + 1) > keys.length) {
                grow();
                slot = slot(key);
            }
            size++;
        }
        keys[slot] = key;
        values[slot] = value;
    }

    int size() {
        return size;
    }

    /** Slots to iterate over; {@link #at} is null for those that are empty. */
    int slots() {
        return values.length;
    }

    @SuppressWarnings("unchecked")
    V at(int slot) {
        return (V) values[slot];
    }

    long keyAt(int slot) {
        return keys[slot];
    }

    private int slot(long key) {
        int mask = keys.length - 1;
        long h = key * 0x9E3779B97F4A7C15L;
        int i = (int) (h >>> 32) & mask;
        while (values[i] != null && keys[i] != key) {
            i = i + 1 & mask;
        }
        return i;
    }

    private void grow() {
        long[] oldKeys = keys;
        Object[] oldValues = values;
        long[] newKeys = new long[2 * oldKeys.length];
        Object[] newValues = new Object[2 * oldKeys.length];
        keys = newKeys;
        values = newValues;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != null) {
                int slot = slot(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }
}
