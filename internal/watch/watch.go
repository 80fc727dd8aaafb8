// Package watch measures processes while a run goes: CPU, memory and network of
// those on this machine, heap and collections of a JVM that can be asked, bytes of
// our own connections. What is not known is absent with the reason, never 0.
package watch
