// Package bench holds benchmarks that need several layers at once: what our loop
// costs against a bare loop over the same client and connections, and against
// the store's own tool, as ratios within one run. It has no code but tests; run
// it by make bench.
package bench
