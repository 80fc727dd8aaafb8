package main

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
)

// storeEntry is a kind of store as list stores has it in JSON.
type storeEntry struct {
	Name     string            `json:"name"`
	Title    string            `json:"title"`
	Schemes  []string          `json:"schemes"`
	Example  string            `json:"example"`
	Params   []string          `json:"parameters"`
	Profiles map[string]string `json:"profiles"`
	// Asked are what its servers are asked for, with what is different without it.
	Asked map[string]string `json:"asked,omitempty"`
}

// describe says what runs on a store, for a program and for a person.
func describe(d store.Driver) (storeEntry, []string) {
	e := storeEntry{d.Name, d.Title, d.Schemes, d.Example, some(d.Params), map[string]string{}, map[string]string{}}
	for _, t := range d.Traits {
		e.Asked[t.Title] = t.Without
	}
	var runs []string
	for _, p := range cli.Profiles() {
		b, ok := p.Binding(d.Name)
		switch {
		case !ok || b.Refuse != "":
			continue
		case b.Note != "":
			runs = append(runs, p.Name+" ("+b.Note+")")
		default:
			runs = append(runs, p.Name)
		}
		e.Profiles[p.Name] = b.Note
	}
	return e, runs
}

func listStores() listing {
	l := listing{head: []string{"STORE", "NAME", "TARGET", "PROFILES"}}
	data := []storeEntry{}
	for _, d := range drivers.All() {
		e, runs := describe(d)
		l.rows = append(l.rows, []string{d.Title, d.Name, d.Example, strings.Join(runs, " ")})
		data = append(data, e)
	}
	l.data = data
	return l
}

// listParameters lists all about one kind of store.
func listParameters(name string) (listing, error) {
	for _, d := range drivers.All() {
		if d.Name != name {
			continue
		}
		e, runs := describe(d)
		rows := [][]string{
			{"target", d.Example},
			{"schemes", strings.Join(d.Schemes, " ")},
			{"profiles", strings.Join(runs, " ")},
			{"parameters", strings.Join(d.Params, " ")},
		}
		for _, t := range d.Traits {
			rows = append(rows, []string{"without " + t.Title, t.Without})
		}
		return listing{head: []string{"STORE", d.Title}, rows: rows, data: e}, nil
	}
	return listing{}, fault.Input(fmt.Errorf("unknown store %q", name), fault.Suggest(name, cli.StoreNames(), fault.SeeStores))
}
