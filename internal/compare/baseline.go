package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
)

// BaselineSchema is the version of the layout of a baseline.
const BaselineSchema = 1

// baseline is a file of runs to compare with. It has their conditions and figures, but
// no series and histograms, so that it is small enough to be kept next to the code that
// it is about.
type baseline struct {
	Schema int    `json:"perfbench_baseline"`
	Runs   []*Run `json:"runs"`
}

// Baseline encodes runs as a baseline; the same runs give the same bytes.
func Baseline(runs []*Run) ([]byte, error) {
	data, err := json.MarshalIndent(baseline{BaselineSchema, runs}, "", "  ")
	return append(data, '\n'), err
}

// ErrNoBaseline means that a file is not a baseline.
var ErrNoBaseline = errors.New("it is not a baseline")

// ReadBaseline decodes the runs of a baseline. An error either wraps ErrNoBaseline or
// says what is wrong with the baseline.
func ReadBaseline(data []byte) ([]*Run, error) {
	var b baseline
	if err := json.Unmarshal(infile.Harmless(data), &b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoBaseline, err)
	}
	switch {
	case b.Schema == 0:
		return nil, ErrNoBaseline
	case b.Schema != BaselineSchema:
		return nil, fmt.Errorf("it has layout %d, and this perfbench reads %d", b.Schema, BaselineSchema)
	case len(b.Runs) == 0:
		return nil, errors.New("it has no runs")
	}
	for _, r := range b.Runs {
		if r == nil || len(r.Parts) == 0 || r.Conditions.Profile == "" {
			return nil, errors.New("one of its runs has no figures")
		}
		if r.Conditions.MeasuredS < leastBatches {
			r.forget()
		}
	}
	return b.Runs, nil
}

// forget drops the errors of figures that earlier versions derived from too few seconds;
// that of errors is by their number.
func (r *Run) forget() {
	for _, m := range r.Parts {
		for f, e := range m.Figures {
			if f != Errors {
				e.SE, e.Low, e.High = math.NaN(), 0, 0
				m.Figures[f] = e
			}
		}
	}
}

// jsonMeasured is the form of Measured in a file.
type jsonMeasured struct {
	// Track and Op are empty for all calls together.
	Track  string `json:"track,omitempty"`
	Op     string `json:"op,omitempty"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
	// TimedOut is absent if none did.
	TimedOut int64               `json:"timed_out,omitempty"`
	Figures  map[Figure]Estimate `json:"figures"`
}

// MarshalJSON encodes what a baseline keeps.
func (m Measured) MarshalJSON() ([]byte, error) {
	out := jsonMeasured{Calls: m.Calls, Errors: m.Errors, TimedOut: m.TimedOut, Figures: m.Figures}
	if m.Operation != nil {
		out.Track, out.Op = m.Operation.Track, m.Operation.Op
	}
	return json.Marshal(out)
}

// UnmarshalJSON decodes what a baseline keeps.
func (m *Measured) UnmarshalJSON(data []byte) error {
	var in jsonMeasured
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*m = Measured{Calls: in.Calls, Errors: in.Errors, TimedOut: in.TimedOut, Figures: in.Figures}
	if in.Track != "" || in.Op != "" {
		m.Operation = &measure.Operation{Track: in.Track, Op: in.Op}
	}
	return nil
}

// jsonEstimate is the form of Estimate in a file: an unknown error is absent, and so
// are infinite degrees of freedom.
type jsonEstimate struct {
	Value   float64  `json:"value"`
	SE      *float64 `json:"standard_error,omitempty"`
	DF      *float64 `json:"degrees_of_freedom,omitempty"`
	Low     *float64 `json:"batches_low,omitempty"`
	High    *float64 `json:"batches_high,omitempty"`
	Least   *float64 `json:"batches_least,omitempty"`
	Most    *float64 `json:"batches_most,omitempty"`
	AtLeast bool     `json:"at_least,omitempty"`
	Vague   bool     `json:"too_few_calls,omitempty"`
}

// MarshalJSON writes the estimate; its value must be known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	out := jsonEstimate{Value: e.Value, AtLeast: e.AtLeast, Vague: e.Vague}
	if !math.IsNaN(e.SE) && !math.IsInf(e.SE, 0) {
		out.SE = rounded(e.SE)
		if !math.IsInf(e.DF, 0) && !math.IsNaN(e.DF) {
			out.DF = rounded(e.DF)
		}
	}
	if e.Low > 0 {
		out.Low, out.High = rounded(e.Low), rounded(e.High)
	}
	if e.Least > 0 {
		out.Least, out.Most = rounded(e.Least), rounded(e.Most)
	}
	return json.Marshal(out)
}

// rounded keeps six digits: the rest is noise, and differs between processors.
func rounded(v float64) *float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64) // cannot fail
	return &v
}

// UnmarshalJSON reads an estimate.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var in jsonEstimate
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = Estimate{Value: in.Value, SE: math.NaN(), DF: math.Inf(1), AtLeast: in.AtLeast, Vague: in.Vague}
	if in.SE != nil {
		e.SE = *in.SE
	}
	if in.DF != nil {
		e.DF = *in.DF
	}
	if in.Low != nil && in.High != nil {
		e.Low, e.High = *in.Low, *in.High
	}
	if in.Least != nil && in.Most != nil {
		e.Least, e.Most = *in.Least, *in.Most
	}
	return nil
}
