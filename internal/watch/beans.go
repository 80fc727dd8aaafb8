package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"
)

// Bean is a number that a Java server publishes through JMX: an attribute of the
// management bean with that name, or of all beans that match the name as a pattern.
type Bean struct{ Name, Attribute string }

// Agent is the Jolokia agent of a Java server. Any goroutine may use it.
type Agent struct{ of jolokia }

// NewAgent returns the agent with that URL.
func NewAgent(url string) *Agent {
	return &Agent{jolokia{url: url, client: &http.Client{Timeout: 5 * time.Second}}}
}

// Sums queries numbers in one request, each the sum over the beans that match its name;
// NaN for those that the server does not have. It returns an error if nobody answers.
func (a *Agent) Sums(ctx context.Context, beans []Bean) ([]float64, error) {
	questions := make([]map[string]string, len(beans))
	for i, b := range beans {
		questions[i] = map[string]string{"type": "read", "mbean": b.Name, "attribute": b.Attribute}
	}
	text, err := json.Marshal(questions)
	if err != nil {
		return nil, err
	}
	data, err := a.of.ask(ctx, string(text))
	if err != nil {
		return nil, err
	}
	var answers []struct {
		Status int `json:"status"`
		Value  any `json:"value"`
	}
	if err := json.Unmarshal(data, &answers); err != nil || len(answers) != len(beans) {
		return nil, fmt.Errorf("ask the JVM: %w", errNoAgent)
	}
	out := make([]float64, len(beans))
	for i, x := range answers {
		if out[i] = math.NaN(); x.Status == http.StatusOK {
			out[i] = sum(x.Value)
		}
	}
	return out, nil
}

// sum adds up the numbers in a value, NaN if there are none.
func sum(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case map[string]any:
		total := math.NaN()
		for _, one := range v {
			switch n := sum(one); {
			case math.IsNaN(n):
			case math.IsNaN(total):
				total = n
			default:
				total += n
			}
		}
		return total
	}
	return math.NaN()
}
