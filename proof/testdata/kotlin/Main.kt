import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

sealed interface Shape {
    val area: Double
    fun describe(unit: String = "cm") = "%s of %.1f %s²".format(this::class.simpleName, area, unit)
}

data class Circle(val radius: Double) : Shape {
    override val area get() = Math.PI * radius * radius
}

data class Square(val side: Double) : Shape {
    override val area by lazy { side * side }
}

enum class Size { SMALL, LARGE }

fun Shape.size() = when {
    area < 10 -> Size.SMALL
    else -> Size.LARGE
}

inline fun <T, R> Iterable<T>.each(body: (T) -> R): List<R> {
    val results = ArrayList<R>()
    for (element in this) results += body(element)
    return results
}

class Counter {
    private val lock = Any()
    private var count = 0
    fun next(): Int = synchronized(lock) { try { ++count } finally { check(count > 0) } }
}

suspend fun slow(n: Int): Int {
    delay(1)
    return if (n == 0) 0 else n + slow(n - 1)
}

fun main() = runBlocking {
    val counter = Counter()
    val shapes = listOf<Shape>(Circle(1.0), Square(4.0), Circle(2.5))
    shapes.each { "${counter.next()} ${it.describe()} ${it.size()}" }.forEach(::println)
    launch { println("sum ${slow(4)}") }.join()
    println(flow { repeat(3) { emit(it * counter.next()) } }.toList())
    val (big, small) = shapes.partition { it.size() == Size.LARGE }
    println("${big.size} ${small.size}")
}
