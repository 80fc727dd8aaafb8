// Package watch measures processes during a run: CPU, memory and network of those on
// this machine, heap and collections of a JVM that can be queried, and bytes of our own
// connections. What is unknown is absent, with the reason, and never 0.
package watch
