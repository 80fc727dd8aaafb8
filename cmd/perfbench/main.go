// Command perfbench load-tests data stores with workloads shaped like real
// applications.
package main

func main() {}
