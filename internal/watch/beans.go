package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"
)

// Bean is a number that a Java server keeps for those who manage it: an attribute of
// the management bean of that name, or of all that the name is a pattern of.
type Bean struct{ Name, Attribute string }

// Agent is the Jolokia agent of a Java server. Any goroutine may ask it.
type Agent struct{ of jolokia }

// NewAgent returns the agent with that URL.
func NewAgent(url string) *Agent {
	return &Agent{jolokia{url: url, client: &http.Client{Timeout: 5 * time.Second}}}
}

// Sums asks for numbers in one request, each the sum over the beans that its name
// meets; NaN for what the server has not. The error says that nobody answers.
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

// sum adds up the numbers of a value, NaN when there is none.
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
