package rundir

import _ "embed" // for the schema

//go:generate cp run.schema.json ../../docs/run.schema.json

// RunSchema is the JSON Schema (draft 2020-12) of run.json.
//
//go:embed run.schema.json
var RunSchema []byte
