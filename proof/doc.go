// Package proof holds the tests that need the whole chain: a real program and the JDK's own modules are instrumented, run, collected and
// reported, and the results are held against what is known from elsewhere.
package proof
