import groovy.transform.CompileStatic
import groovy.transform.Immutable

@Immutable
class Order {
    String customer
    BigDecimal amount
}

trait Greets {
    String greet(String name = 'you') { "hello $name" }
}

@CompileStatic
class Till implements Greets {
    private final Map<String, BigDecimal> totals = [:].withDefault { 0.0G } as Map<String, BigDecimal>

    synchronized void add(Order order) {
        try {
            totals[order.customer] = totals[order.customer] + order.amount
        } finally {
            assert totals.size() > 0
        }
    }

    BigDecimal total() {
        totals.values().inject(0.0G) { BigDecimal a, BigDecimal b -> a + b } as BigDecimal
    }
}

def till = new Till()
[new Order('ann', 2.5), new Order('bob', 4.0), new Order(customer: 'ann', amount: 1)].each { till.add(it) }
println till.greet()
println till.total()
println((1..5).findAll { it % 2 }.collect { it ** 2 }.join(','))
switch (till) {
    case Greets: println 'greets'; break
    default: println '?'
}
