package rundir

import "github.com/HdrHistogram/hdrhistogram-go"

// Folder is a run directory as loaded: the model, the series and the histograms.
type Folder struct {
	Dir    string
	Run    Run
	Series []SeriesRow
	// Histograms are those of the whole measured run by tag,
	// "<track>.<op>.response", "….service", "….wait", "….lateness".
	Histograms map[string]*hdrhistogram.Histogram
	// Given is the file of --facts as it was given, nil when there is none.
	Given []byte
	// Found are documents of others that stood in a folder that is no run's; then there
	// is no more of Run than its profile and when it began.
	Found []File

	// damaged says that the figures of Run were recomputed from what was left.
	damaged bool
}
