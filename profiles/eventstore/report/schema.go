package report

import (
	"cmp"
	"fmt"
	"html"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// schemaFile is the name of the drawing that shows what ran where.
const schemaFile = "th2-cluster-schema.svg"

// schemaBox is one component of the drawing.
type schemaBox struct {
	title   string
	lines   []string
	machine string
	next    string // what is passed to the next box
}

// Sizes of the drawing in its own units.
const (
	schemaWidth, schemaHeight = 1000.0, 250.0
	boxTop, boxHeight         = 80.0, 100.0
	boxGap, boxMargin         = 90.0, 30.0
)

// schemaBoxes returns the components in the order in which an event passes them.
func schemaBoxes(d *deployment, sc *scenario) []schemaBox {
	list := []schemaBox{{title: strings.TrimSpace("woodpecker " + sc.generators()), lines: []string{"generators of perfbench"}, machine: d.machineOf(RoleOwn), next: "EventBatch"}}
	if d.hasBroker() {
		list = append(list, schemaBox{title: "RabbitMQ", lines: []string{"one exchange, one queue"}, machine: d.machineOf(RoleBroker), next: "prefetch " + cmp.Or(sc.config["prefetchCount"], unknown)})
	}
	list = append(list, schemaBox{title: "estore", lines: []string{"store stage of perfbench"}, machine: d.machineOf(RoleOwn), next: "rows"})
	store := schemaBox{title: d.storeName(), machine: d.machineOf(d.storeRole())}
	if d.store.Topology != "" && !within(d.driver) {
		store.lines = append(store.lines, d.store.Topology)
	}
	if d.schema != "" {
		store.lines = append(store.lines, "schema "+d.schema)
	}
	return append(list, store)
}

// schema draws the components in frames for their machines; neighbours on one machine
// share a frame.
func schema(d *deployment, sc *scenario) rundir.File {
	list := schemaBoxes(d, sc)
	n := float64(len(list))
	width := (schemaWidth - 2*boxMargin - (n-1)*boxGap) / n
	x := func(i int) float64 { return boxMargin + float64(i)*(width+boxGap) }
	var b strings.Builder
	text := func(x, y float64, style, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>%s</text>\n", x, y, style, html.EscapeString(s))
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<title>Cluster schema</title>\n", schemaWidth, schemaHeight)
	b.WriteString("<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n")
	fmt.Fprintf(&b, "<rect width=\"%g\" height=\"%g\" fill=\"#fff\"/>\n", schemaWidth, schemaHeight)
	for i := 0; i < len(list); {
		last := i
		for last+1 < len(list) && list[last+1].machine == list[i].machine && list[i].machine != unknown {
			last++
		}
		from, to := x(i)-14, x(last)+width+14
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\" rx=\"6\" fill=\"#f4f4f4\" stroke=\"#999\" stroke-dasharray=\"5 3\"/>\n", from, boxTop-40, to-from, boxHeight+90)
		text((from+to)/2, boxTop-20, " font-weight=\"bold\"", d.machineTitle(list[i].machine))
		text((from+to)/2, boxTop+boxHeight+30, " fill=\"#666\"", d.machineSize(list[i].machine))
		i = last + 1
	}
	for i, c := range list {
		mid := x(i) + width/2
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\" rx=\"4\" fill=\"#fff\" stroke=\"#0072b2\" stroke-width=\"1.5\"/>\n", x(i), boxTop, width, boxHeight)
		text(mid, boxTop+40, " font-size=\"14\"", c.title)
		for j, l := range c.lines {
			text(mid, boxTop+62+17*float64(j), " fill=\"#666\"", l)
		}
		if i+1 < len(list) {
			y := boxTop + boxHeight/2
			fmt.Fprintf(&b, "<path d=\"M%.1f %gH%.1f\" stroke=\"#333\" marker-end=\"url(#tip)\"/>\n", x(i)+width, y, x(i+1))
			text(x(i)+width+boxGap/2, y-6, " font-size=\"10\"", c.next)
		}
	}
	b.WriteString("</svg>\n")
	return rundir.File{Name: schemaFile, Data: []byte(b.String())}
}

// machineTitle returns the name of a machine in the drawing, machineSize its size.
func (d *deployment) machineTitle(name string) string {
	if name == unknown {
		return "machine: n/a"
	}
	for _, m := range d.given.Machines {
		if m.Name == name && m.Count > 1 {
			return fmt.Sprintf("%s (x%d)", name, m.Count)
		}
	}
	return name
}

func (d *deployment) machineSize(name string) string {
	for _, m := range d.machines() {
		if m.Name == name && m.CPU != "" && m.RAM != "" {
			return m.CPU + ", " + m.RAM
		}
	}
	return ""
}
