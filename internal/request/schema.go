package request

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/perfbench/perfbench/internal/workload"
)

// object is a piece of JSON Schema.
type object = map[string]any

// Schema returns the JSON Schema of plan files, for editors, with the parameters and
// presets of the profiles and the ids of the formats. It describes what a file may look
// like; whether the values make a valid run is left to Read and to the profile.
func Schema(profiles []workload.Profile, presets func(workload.Profile) []string, formats []string) ([]byte, error) {
	var names []string
	defs := object{"value": object{"type": []string{"string", "number", "boolean", "null"}}}
	var byProfile []any
	for _, p := range profiles {
		if p.Design == nil {
			continue
		}
		names = append(names, p.Name)
		defs["set-"+p.Name] = setOf(p)
		ref := object{"$ref": "#/$defs/set-" + p.Name}
		byProfile = append(byProfile, object{
			"if": object{"properties": object{"profile": object{"const": p.Name}}, "required": []string{"profile"}},
			"then": object{"properties": object{
				wordSet: ref, "preset": object{"examples": presets(p)},
				wordRuns: object{"items": object{"if": object{"not": object{"required": []string{"profile"}}}, "then": object{"properties": object{wordSet: ref}}}},
			}},
		})
	}
	words := properties(names, formats)
	defs["run"] = object{"type": "object", "description": "one run of a suite", "additionalProperties": false, "properties": words, "allOf": byProfile}
	top := maps.Clone(words)
	top[wordRuns] = object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/run"}, "description": "the runs of a suite; what stands beside this list holds for all of them"}
	top[wordStop] = object{"type": []string{"boolean", "string"}, "description": "leave out the runs after one that failed"}
	return json.MarshalIndent(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A plan of perfbench",
		"description": "A whole run, or several, for perfbench run PLAN.yaml. Texts may contain ${NAME}, an environment variable.",
		"type":        "object", "additionalProperties": false, "properties": top, "allOf": byProfile, "$defs": defs,
	}, "", "  ")
}

// setOf describes the parameters of a profile. There may be more, for tracks.
func setOf(p workload.Profile) object {
	known := object{}
	for _, q := range p.Params {
		text := q.Help
		if q.Unit != "" {
			text += " (" + q.Unit + ")"
		}
		one := object{"description": text}
		if q.Default != "" {
			one["default"] = q.Default
		}
		if len(q.Choices) > 0 {
			one["examples"] = q.Choices
		}
		known[q.Name] = one
	}
	return object{"type": []string{"object", "null"}, "properties": known}
}

// properties describes the keys of a run.
func properties(profiles, formats []string) object {
	out := object{wordSet: object{"type": []string{"object", "null"}, "description": "any knob or parameter of the profile, by its name; TRACK.NAME for one track"}}
	for _, p := range parts() {
		out[p.name] = object{"type": []string{"object", "null"}, "description": p.help, "additionalProperties": false, "properties": p.schema()}
	}
	for _, q := range Keys() {
		one := shape(q)
		switch q.Name {
		case "profile":
			one = oneOf(profiles)
		case "format":
			one = oneOrMore(oneOf(formats))
			one["anyOf"] = append(one["anyOf"].([]any), object{"type": "string", "pattern": ","})
		case "at":
			changes := object{"type": "object", "additionalProperties": object{"type": []string{"string", "object"}}}
			one = oneOrMore(object{"anyOf": []any{object{"type": "string"}, changes}})
		}
		one["description"] = q.Help
		if q.Default != "" {
			one["default"] = q.Default
		}
		out[q.Name] = one
	}
	return out
}

func (p part) schema() object {
	out := object{}
	for _, q := range p.words {
		one := shape(q)
		if p.name == wordSweep && q.Name == "over" {
			value := object{"type": []string{"string", "number", "boolean"}}
			one["anyOf"] = append(one["anyOf"].([]any), object{"type": "object", "additionalProperties": oneOrMore(value)})
		}
		one["description"] = q.Help
		out[q.Name] = one
	}
	return out
}

// shape describes what YAML may make of a value of some kind; any value may contain a
// variable.
func shape(q workload.Param) object {
	switch q.Kind {
	case workload.Integer, workload.Size:
		return object{"type": []string{"integer", "string", "null"}}
	case workload.Number:
		return object{"type": []string{"number", "string", "null"}}
	case workload.Switch:
		return object{"type": []string{"boolean", "string", "null"}}
	case workload.List:
		return oneOrMore(object{"type": "string"})
	}
	return object{"type": []string{"string", "number", "null"}}
}

// oneOrMore describes one thing or a list of such things.
func oneOrMore(item object) object {
	return object{"anyOf": []any{item, object{"type": "array", "items": item}}}
}

// oneOf describes one of several words, or a text with a variable.
func oneOf(words []string) object {
	return object{"anyOf": []any{object{"enum": slices.Clone(words)}, object{"type": "string", "pattern": `\$\{`}}}
}
