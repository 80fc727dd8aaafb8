// Package bench holds benchmarks that involve several layers at once: what our loop
// costs compared with a bare loop over the same client and connections, and with the
// store's own tool, as ratios within one run. Run it with make bench; what other benchmarks
// that compare need is exported.
package bench
