// Command size reports what each client library in the program costs, in bytes and in
// seconds of compiling: what would be saved if nothing imported it, together with
// everything that only it needs. What several of them need is attributed to none. With the
// graph of a build it also reports what our own packages cost, and the chain of packages that
// wait for each other longest. See docs/install.md.
//
//	go run ./internal/testing/size                 bytes
//	go run ./internal/testing/size -graph FILE     and seconds, as recorded by go build
//	                                               -debug-actiongraph=FILE with an empty cache
package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const program = "./cmd/perfbench"

// clients are the libraries that could be removed, with the prefixes of the import
// paths that belong to each.
var clients = []struct {
	name  string
	paths []string
}{
	{"Redis", []string{"github.com/redis/go-redis/"}},
	{"Redis, embedded", []string{"github.com/alicebob/miniredis/"}},
	{"Cassandra", []string{"github.com/apache/cassandra-gocql-driver/"}},
	{"Coherence", []string{"github.com/oracle/coherence-go-client/"}},
	{"SQLite", []string{"modernc.org/sqlite"}},
	{"MySQL", []string{"github.com/go-sql-driver/mysql", "gorm.io/driver/mysql"}},
	{"PostgreSQL", []string{"github.com/jackc/pgx/", "gorm.io/driver/postgres"}},
	{"all SQL", []string{"modernc.org/sqlite", "github.com/go-sql-driver/mysql", "github.com/jackc/pgx/", "gorm.io/"}},
	{"RabbitMQ", []string{"github.com/rabbitmq/"}},
	{"OpenTelemetry", []string{"go.opentelemetry.io/otel", "go.opentelemetry.io/contrib"}},
	{"Prometheus", []string{"github.com/prometheus/", "go.opentelemetry.io/contrib/bridges/prometheus"}},
	{"gRPC", []string{"google.golang.org/grpc", "github.com/oracle/coherence-go-client/", "go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"}},
	{"NATS", []string{"github.com/nats-io/"}},
	{"the workbench", []string{"charm.land/"}},
}

// cost is what a package costs.
type cost struct {
	bytes   int
	seconds float64
}

func main() {
	graph := flag.String("graph", "", "what go build -debug-actiongraph wrote")
	flag.Parse()
	if err := run(*graph); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run(graph string) error {
	dir, err := os.MkdirTemp("", "perfbench-size-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	imports, err := packages()
	if err != nil {
		return err
	}
	var actions []action
	if graph != "" {
		if actions, err = readActions(graph); err != nil {
			return err
		}
	}
	costs := compiling(actions)
	whole, stripped := filepath.Join(dir, "whole"), filepath.Join(dir, "stripped")
	if _, err := output("build", "-o", whole, program); err != nil {
		return err
	}
	if err := symbols(whole, imports, costs); err != nil {
		return err
	}
	if _, err := output("build", "-ldflags", "-s -w", "-o", stripped, program); err != nil {
		return err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	table(imports, costs, float64(info.Size()), graph != "")
	if graph == "" {
		return nil
	}
	counts, err := foreign(0)
	if err != nil {
		return err
	}
	fmt.Println()
	ownTable(costs, counts)
	fmt.Println()
	chain(actions)
	return nil
}

// table prints a row for each client, the most expensive first.
func table(imports map[string][]string, costs map[string]cost, size float64, timed bool) {
	all := sum(costs, func(string) bool { return true })
	type row struct {
		name string
		cost
	}
	rows := []row{{"everything", all}}
	for _, c := range clients {
		kept := reached(imports, c.paths)
		gone := sum(costs, func(p string) bool { return !kept[p] })
		if gone.bytes > 0 {
			rows = append(rows, row{c.name, gone})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return b.bytes - a.bytes })
	fmt.Println("| client | MB | % |" + map[bool]string{true: " seconds |"}[timed])
	fmt.Println("| --- | --: | --: |" + map[bool]string{true: " --: |"}[timed])
	for _, r := range rows {
		share := float64(r.bytes) / float64(all.bytes)
		fmt.Printf("| %s | %.1f | %.0f |", r.name, share*size/1e6, share*100)
		if timed {
			fmt.Printf(" %.0f |", r.seconds)
		}
		fmt.Println()
	}
}

func sum(costs map[string]cost, counts func(string) bool) (total cost) {
	for p, c := range costs {
		if counts(p) {
			total.bytes += c.bytes
			total.seconds += c.seconds
		}
	}
	return total
}

// packages returns what each package of the program imports.
func packages() (map[string][]string, error) {
	out, err := output("list", "-deps", "-json=ImportPath,Imports", program)
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); err != nil {
			return nil, err
		}
		imports[p.ImportPath] = p.Imports
	}
	return imports, nil
}

// reached returns the packages of the program that remain without those whose paths
// begin with one of without.
func reached(imports map[string][]string, without []string) map[string]bool {
	seen := map[string]bool{}
	var visit func(string)
	visit = func(p string) {
		if seen[p] || slices.ContainsFunc(without, func(w string) bool { return strings.HasPrefix(p, w) }) {
			return
		}
		seen[p] = true
		for _, i := range imports[p] {
			visit(i)
		}
	}
	for p := range imports {
		if strings.HasSuffix(p, strings.TrimPrefix(program, ".")) || p == "runtime" {
			visit(p)
		}
	}
	return seen
}

// symbols adds the bytes of code and data of each package. What belongs to no package,
// such as the tables of the linker, is distributed in proportion.
func symbols(file string, imports map[string][]string, costs map[string]cost) error {
	program, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer program.Close()
	all, err := program.Symbols()
	if err != nil {
		return err
	}
	for _, s := range all {
		if int(s.Section) >= len(program.Sections) || program.Sections[s.Section].Type == elf.SHT_NOBITS {
			continue // zeros take no room in a file
		}
		if p := owner(s.Name, imports); p != "" {
			c := costs[p]
			c.bytes += int(s.Size)
			costs[p] = c
		}
	}
	return nil
}

// owner returns the package of a symbol: the longest matching import path. What belongs
// to none is the linker's.
func owner(symbol string, imports map[string][]string) string {
	symbol, _, _ = strings.Cut(symbol, "[") // the type arguments of a generic one
	symbol, _, _ = strings.Cut(symbol, "(")
	symbol = strings.ReplaceAll(symbol, "%2e", ".")
	dot := strings.LastIndexByte(symbol, '/') + 1
	for {
		next := strings.IndexByte(symbol[dot:], '.')
		if next < 0 {
			return ""
		}
		dot += next
		if _, ok := imports[symbol[:dot]]; ok {
			return symbol[:dot]
		}
		dot++
	}
}

// output runs the go command without cgo, as releases are built, for Linux.
func output(args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}
