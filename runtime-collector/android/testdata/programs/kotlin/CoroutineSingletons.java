package kotlin.coroutines.intrinsics;

/** Named like Kotlin's own. */
public enum CoroutineSingletons {
    COROUTINE_SUSPENDED,
    UNDECIDED,
    RESUMED
}
