// Package bench holds benchmarks that involve several layers at once: what our loop
// costs compared with a bare loop over the same client and connections, and with the
// store's own tool, as ratios within one run. It contains only tests; run it with make
// bench.
package bench
