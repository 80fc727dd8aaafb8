package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/yaml"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
)

// scenario is what the run was to do: the values in force, where its events went, and
// its steps.
type scenario struct {
	config            map[string]string
	page, book, scope string
	compat            bool
	steps             []*Step
}

func newScenario(src *source) *scenario {
	f := src.f
	return &scenario{config: f.Config, page: f.Page, book: f.Book, scope: f.Scope, compat: f.Compat, steps: src.steps}
}

// generators says how many there were, if any.
func (sc *scenario) generators() string {
	if len(sc.steps) == 0 {
		return ""
	}
	return fmt.Sprintf("x%d", sc.steps[0].Generators)
}

// parameters writes the section on what was run.
func parameters(w *page, sc *scenario) {
	w.printf("## th2 components configuration\n\n### woodpecker\n\n```yaml\n%s```\n\n### estore\n\n```yaml\n%s```\n\n", sc.woodpecker(), sc.estore())
	w.printf("## performance test parameters\n\n### cradle parameters\n\n")
	if sc.page == "" {
		w.printf("%s\n\n", unknown)
	} else {
		w.printf("A single page, %s, of book %s takes all events of the run; their scope is %s.\n\n", sc.page, sc.book, sc.scope)
	}
	w.printf("### events parameters\n\n")
	for _, p := range [][2]string{{"tree structure", sc.trees()}, {"body", sc.body()}, {"attached messages", sc.config["attachedMessages"]}, {"status", sc.status()}} {
		w.printf("* %s: %s\n", p[0], cmp.Or(p[1], unknown))
	}
	w.printf("\n### steps parameters for woodpeckers %s\n\n", cmp.Or(sc.generators(), unknown))
	var rows [][]string
	for _, s := range sc.steps {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Batch), minutes(s.Seconds())})
	}
	w.stepTable([]string{"step", "maxBatchSize", "duration"}, rows)
}

// minutes formats a duration as the original does, short ones in seconds.
func minutes(seconds float64) string {
	if seconds < 60 {
		return number("%.3g s", seconds)
	}
	return number("%.3g min", seconds/60)
}

func (sc *scenario) trees() string {
	c := sc.config
	shape := fmt.Sprintf("%s levels below the root, %s children of a node", c["treeDepth"], c["childCount"])
	switch c["generationMode"] {
	case generate.SingleRoot:
		if c["treeDepth"] == "0" {
			return "one root for each generator, several children in batches"
		}
		return "one tree for each generator (" + shape + "), several children of a leaf in batches"
	case generate.MultiRoot:
		return fmt.Sprintf("%s trees for each generator (%s), several children of a leaf in batches", c["roots"], shape)
	case generate.Mixed:
		return fmt.Sprintf("%s trees for each generator (%s), several children of a leaf in batches, every tenth batch without a parent", c["roots"], shape)
	}
	return ""
}

func (sc *scenario) body() string {
	var sizes []string
	for _, s := range sc.steps {
		if size := fmt.Sprint(s.Payload); !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	switch all := strings.Join(sizes, ", "); {
	case all == "":
		return ""
	case sc.config["bodyKind"] == generate.BodyRandom:
		return "text made of " + all + " random bytes"
	case sc.config["bodyKind"] == generate.BodyTable:
		return "generated JSON of " + all + " bytes"
	}
	return ""
}

func (sc *scenario) status() string {
	switch rate := sc.config["failureRate"]; rate {
	case "":
		return ""
	case "0":
		if sc.compat {
			return "success, but one in 1000 FAILED (compat=on)"
		}
		return "success"
	default:
		return rate + " of 1000 FAILED"
	}
}

// woodpecker returns the box of the generators.
func (sc *scenario) woodpecker() string {
	b := boxes{sc.config}
	events := yaml.NewMapping()
	for _, name := range []string{"bookName", "scope", "generationMode"} {
		events.Maybe(name, b.text(name))
	}
	for _, name := range []string{"treeDepth", "childCount", "failureRate", "descriptionLength", "bodyDataLength"} {
		events.Maybe(name, b.integer(name))
	}
	custom := yaml.NewMapping().Maybe("tickRate", b.integer("tickRate"))
	if len(sc.steps) > 0 && !events.Empty() {
		custom.Maybe("maxBatchSize", yaml.Whole(int64(sc.steps[0].Batch))).Maybe("useTransportMode", yaml.Word(generate.EventMode))
	}
	custom.Maybe("generatorSettings", yaml.NewMapping().Maybe("eventGeneratorSettings", events))
	return document("Th2Box", cmp.Or(b.config["woodpeckerName"], "woodpecker"), yaml.NewMapping().Maybe("customConfig", custom))
}

// estore returns the box of the store stage.
func (sc *scenario) estore() string {
	b := boxes{sc.config}
	cradle := yaml.NewMapping().Maybe("timeout", b.millis("timeout")).Maybe("resultPageSize", b.integer("resultPageSize")).
		Maybe("composingServiceThreads", b.integer("processingThreads")).Maybe("counterPersistenceInterval", b.millis("counterPersistenceInterval")).
		Maybe("maxUncompressedTestEventSize", b.size("compressOver")).Maybe("maxUncompressedMessageBatchSize", b.size("maxUncompressedMessageBatchSize")).
		Maybe("maxTestEventBatchSize", b.size("maxTestEventBatchSize"))
	if c := b.config["compression"]; c != "" {
		cradle.Maybe("compressionType", yaml.Word(strings.ToUpper(c)))
	}
	custom := yaml.NewMapping().Maybe("maxTaskCount", b.integer("maxTaskCount")).Maybe("maxTaskDataSize", b.size("maxTaskDataSize")).
		Maybe("maxRetryCount", b.integer("maxRetryCount")).Maybe("retryDelayBase", b.millis("retryDelayBase")).
		Maybe("processingThreads", b.integer("processingThreads"))
	router := yaml.NewMapping().Maybe("prefetchCount", b.integer("prefetchCount"))
	return document("Th2Estore", cmp.Or(b.config["estoreName"], "estore"), yaml.NewMapping().Maybe("cradleManager", cradle).Maybe("customConfig", custom).Maybe("mqRouter", router))
}
