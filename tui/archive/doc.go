// Package archive holds the screens of what is kept: the list of runs, the comparison of
// two of them, the list of sweeps and a sweep's points, the runs of a plan, and the list of
// runs that other screens show beside their own content.
package archive
