package layers

// The layers, the top one first. A package imports what is below it.
//
//	cmd/perfbench                              wires everything, and does nothing else
//	cmd/perfbench/*                            a command each
//	cmd/perfbench/{call,usage,console,…}       what all commands share
//	tui   profiles/*   report   store/*        know the words, never the engine
//	tui/{picker,dashboard,results,runs,sweeps}        one screen each, none knows another
//	tui/figure                                 draws what searches and sweeps come to
//	tui/shelf                                  kept runs, wherever a screen lists them
//	tui/screen   tui/widget   tui/chart        what screens are, and are drawn with
//	profiles/padogrid                          what the profiles after PadoGrid share
//	report/runpage   report/page               lay runs out as pages; pages as text, Markdown, HTML
//	explain                                    says what held a run back
//	doctor                                     what would spoil a run, before there is one
//	find                                       searches on a run that is going
//	sweep                                      what runs at several values come to
//	history                                    which runs are kept, and which go
//	compare                                    judges sets of finished runs
//	telemetry                                  lets figures leave while a run goes
//	engine             rundir                  run plans; keep runs
//	job                                        what is asked for, what it would do
//	workload                                   the words
//	place                                      whose data is whose
//	measure   store   fault   units   suggest  the ground
//	chart   search                             draw series; find the highest rate
//
// A package that is not there yet breaks no rule.

// may lists, for every folder of the platform and for parts of profiles and commands that
// have few friends, all of ours that each may import.
var may = []struct{ from, to string }{
	{"internal/fault", ""},
	{"internal/measure", ""},
	{"internal/measure/thin", "internal/measure"},
	{"internal/units", "internal/fault internal/suggest"},
	{"internal/suggest", ""},
	{"internal/store", "internal/watch internal/fault internal/units internal/suggest"},
	{"internal/store/redis/link", "internal/store internal/fault"},
	{"internal/store/redis/shape", "internal/store internal/store/redis/link"},
	{"internal/place", "internal/store internal/fault"},
	{"internal/store/cassandra/cqltable", "internal/store/cassandra internal/place internal/store internal/fault"},
	{"internal/store/coherence/wire", ""},
	{"internal/store/sqlstore/gormlite", ""},
	{"internal/store/sqlstore/sqldial", "internal/store internal/fault internal/suggest"},
	{"internal/store/sqlstore/sqltext", ""},
	{"internal/store/sqlstore/sqlerror", "internal/store"},
	{"internal/store/sqlstore/twophase", "internal/store/sqlstore/sqltext internal/fault"},
	{"internal/store/sqlstore/sqltable", "internal/store/sqlstore internal/store/sqlstore/sqltext internal/place internal/store internal/fault"},
	{"internal/workload", "internal/place internal/measure internal/store internal/watch internal/fault internal/units internal/suggest"},
	{"internal/engine", "internal/workload internal/measure internal/store internal/fault internal/units internal/suggest"},
	{"internal/verdict", "internal/measure internal/units"},
	{"internal/rundir/disk", "internal/fault"},
	{"internal/rundir/hlog", "internal/measure"},
	{"internal/explain", "internal/rundir internal/verdict internal/measure internal/units internal/rundir/course"},
	{"internal/rundir/pack", "internal/fault"},
	{"internal/rundir", "internal/rundir/disk internal/rundir/hlog internal/rundir/pack internal/verdict internal/workload internal/measure internal/store internal/fault internal/units internal/suggest"},
	{"internal/rundir/course", "internal/rundir internal/measure"},
	{"internal/job", "internal/workload internal/fault internal/units"},
	{"internal/planfile", "internal/job internal/preset internal/search/found internal/session/given internal/store internal/workload internal/fault internal/suggest"},
	{"internal/session/given", "internal/session/settle internal/rundir internal/workload internal/fault internal/suggest"},
	{"internal/session/recall", "internal/store"},
	{"internal/session/sampler", "internal/rundir internal/verdict internal/measure internal/store internal/watch"},
	{"internal/session/settle", "internal/compare/stat internal/measure internal/fault internal/suggest"},
	{"internal/session/timetable", "internal/engine internal/workload internal/fault internal/units internal/suggest"},
	{"internal/telemetry", "internal/rundir internal/verdict internal/measure internal/fault internal/suggest"},
	{"internal/history", "internal/rundir internal/rundir/disk internal/rundir/pack internal/fault"},
	{"internal/turns", ""},
	{"internal/compare/stat", ""},
	{"internal/compare/gather", "internal/compare internal/rundir internal/rundir/disk internal/fault"},
	{"internal/compare", "internal/compare/stat internal/rundir internal/rundir/hlog internal/verdict internal/measure internal/fault internal/units internal/rundir/course"},
	{"profiles/padogrid", "internal/rundir internal/values internal/workload internal/place internal/store internal/fault internal/units"},
	{"profiles/group/java", ""},
	{"profiles/group/northwind", "internal/objects internal/store"},
	{"profiles/group/model", "internal/units profiles/group/java profiles/group/northwind profiles/padogrid internal/objects internal/store internal/values internal/workload"},
	{"profiles/group/report", "profiles/group/model profiles/padogrid internal/rundir internal/workload"},
	{"profiles/group/layer", "profiles/group/model profiles/group/northwind profiles/group/report internal/place internal/store internal/fault"},
	{"profiles/group/design", "profiles/group/model profiles/group/java profiles/group/northwind profiles/padogrid internal/objects internal/properties internal/values internal/workload internal/fault internal/suggest internal/units"},
	{"profiles/group/run", "profiles/group/layer profiles/group/model profiles/group/northwind profiles/group/report profiles/padogrid internal/objects internal/place internal/store internal/workload internal/fault internal/units"},
	{"profiles/group/inmemory", "profiles/group/layer profiles/group/model internal/store"},
	{"profiles/group/oncoherence", "profiles/group/layer profiles/group/model profiles/group/report internal/store/coherence internal/store internal/fault internal/units"},
	{"profiles/group/onredis", "profiles/group/layer profiles/group/model profiles/group/report internal/store/redis internal/store/redis/link internal/store/redis/shape internal/place internal/store internal/fault"},
	{"profiles/group/onsql", "profiles/group/layer profiles/group/model profiles/group/northwind internal/objects internal/store/sqlstore internal/store/sqlstore/sqltext internal/place internal/store internal/fault"},
	{"profiles/tx/shared", "internal/values internal/workload"},
	{"profiles/tx/meter", "internal/store/sqlstore internal/store internal/watch/self"},
	{"profiles/tx/sqltx", "internal/store/sqlstore internal/store/sqlstore/sqltext"},
	{"profiles/tx/saga/model", "internal/filling internal/place internal/store internal/workload internal/units"},
	{"profiles/tx/saga/coordinator", "profiles/tx/saga/model internal/store internal/workload"},
	{"profiles/tx/saga/onmemory", "profiles/tx/saga/model internal/store"},
	{"profiles/tx/saga/ondtm", "profiles/tx/saga/coordinator profiles/tx/saga/model profiles/tx/saga/onmemory internal/store/dtm internal/store internal/fault"},
	{"profiles/tx/saga/onredis", "profiles/tx/saga/model internal/store/redis internal/store/redis/link"},
	{"profiles/tx/saga/onsql", "profiles/tx/saga/model profiles/tx/sqltx internal/store/sqlstore internal/store/sqlstore/sqlerror internal/store/sqlstore/sqltable internal/store/sqlstore/sqltext internal/store/sqlstore/twophase internal/place internal/store"},
	{"internal/broker", "internal/watch internal/store internal/fault"},
	{"internal/broker/amqp", "internal/broker internal/place internal/watch internal/store internal/fault"},
	{"internal/lab/proc", "internal/fault"},
	{"internal/chart", ""},
	{"internal/report/page", "internal/chart internal/measure internal/units"},
	{"internal/report/runpage", "internal/job internal/report/page internal/chart internal/compare internal/explain internal/rundir internal/rundir/hlog internal/verdict internal/workload internal/measure internal/units internal/rundir/course"},
	{"internal/search", "internal/compare/stat"},
	{"internal/search/found", "internal/rundir/pack"},
	{"internal/sweep/usl", "internal/compare/stat"},
	{"internal/sweep", "internal/sweep/usl internal/compare/stat internal/store internal/verdict internal/fault internal/units"},
	{"internal/find", "internal/search internal/search/found internal/session/timetable internal/engine internal/threshold internal/verdict internal/workload internal/measure internal/fault internal/suggest internal/units"},
	{"internal/watch", "internal/watch/quota"},
	{"internal/watch/quota", ""},
	{"internal/watch/self", "internal/verdict internal/watch/quota"},
	{"tui/chart", ""},
	{"tui/widget", "tui/chart internal/rundir internal/verdict internal/workload internal/measure internal/fault internal/units"},
	{"tui/picker", "tui/screen tui/shelf tui/widget internal/job internal/rundir internal/workload internal/fault internal/units internal/search/found"},
	{"tui/dashboard", "internal/compare/stat tui/screen tui/widget tui/chart internal/job internal/rundir internal/workload internal/store internal/measure internal/fault internal/units tui/dashboard/baseline tui/dashboard/plot tui/dashboard/seek tui/dashboard/sides internal/search/found"},
	{"tui/dashboard/plot", "tui/chart tui/widget internal/chart internal/measure"},
	{"tui/dashboard/baseline", "tui/widget internal/measure internal/rundir internal/rundir/course internal/units"},
	{"tui/dashboard/sides", "tui/widget tui/chart internal/rundir internal/units internal/verdict"},
	{"tui/dashboard/seek", "tui/figure tui/screen tui/widget internal/search/found internal/units"},
	{"tui/figure", "tui/chart tui/widget internal/search/found internal/measure internal/units internal/sweep"},
	{"tui/dashboard/starting", "tui/dashboard tui/screen tui/widget internal/job internal/fault"},
	{"tui/sweeps", "tui/figure tui/screen tui/widget internal/job internal/report internal/sweep internal/workload internal/units"},
	{"tui/results", "tui/screen tui/widget tui/chart internal/explain internal/report internal/report/runpage internal/rundir internal/rundir/hlog internal/workload internal/fault internal/units tui/figure internal/search/found internal/rundir/course"},
	{"tui/runs", "tui/screen tui/shelf tui/widget tui/chart internal/compare internal/rundir internal/units internal/fault"},
	{"tui/shelf", "tui/screen tui/widget internal/rundir internal/sweep"},
	{"tui/screen", "tui/widget internal/job internal/rundir internal/workload internal/store internal/measure internal/search/found internal/sweep"},
	{"cmd/perfbench/console", ""},
	{"cmd/perfbench/version", ""},
	{"cmd/perfbench/usage", "internal/fault internal/suggest"},
	{"cmd/perfbench/catalogue", "cmd/perfbench/usage profiles internal/preset internal/report internal/rundir internal/store/drivers internal/workload internal/fault internal/suggest"},
	{"cmd/perfbench/call", "cmd/perfbench/catalogue cmd/perfbench/console cmd/perfbench/version internal/lab internal/preset internal/session internal/session/given internal/store/drivers internal/telemetry internal/watch/self internal/workload internal/fault"},
	{"internal/values", "internal/workload internal/preset internal/properties internal/fault internal/units internal/suggest"},
	{"profiles/authz/model", ""},
	{"profiles/authz/generate", "profiles/authz/model"},
	{"profiles/authz/folder", "profiles/authz/model internal/fault"},
	{"profiles/authz/layer", "internal/place"},
	{"profiles/authz/check", "profiles/authz/layer"},
	{"profiles/authz/onredis", "profiles/authz/layer internal/store/redis internal/store/redis/link internal/place internal/store"},
	{"profiles/authz/onsql", "profiles/authz/layer internal/store/sqlstore internal/store/sqlstore/sqltable internal/store/sqlstore/sqltext internal/place"},
	{"profiles/authz/oncassandra", "profiles/authz/layer internal/store/cassandra internal/store/cassandra/cqltable internal/place internal/store"},
	{"profiles/authz/inmemory", "profiles/authz/layer"},
	{"profiles/authz/report", "profiles/authz/model internal/rundir internal/workload internal/measure"},
	{"profiles/eventstore/dice", ""},
	{"profiles/eventstore/wire", ""},
	{"profiles/eventstore/transport", "internal/broker/amqp"},
	{"profiles/eventstore/facts", "internal/search"},
	{"profiles/eventstore/generate", "profiles/eventstore/dice profiles/eventstore/wire"},
	{"profiles/eventstore/layer", "profiles/eventstore/wire internal/place internal/store"},
	{"profiles/eventstore/ledger", "profiles/eventstore/generate profiles/eventstore/layer profiles/eventstore/transport profiles/eventstore/wire profiles/eventstore/facts"},
	{"profiles/eventstore/meter", "profiles/eventstore/layer profiles/eventstore/transport profiles/eventstore/facts internal/measure internal/workload"},
	{"profiles/eventstore/stage", "profiles/eventstore/ledger profiles/eventstore/meter profiles/eventstore/layer profiles/eventstore/transport profiles/eventstore/wire profiles/eventstore/dice profiles/eventstore/facts"},
	{"profiles/eventstore/inmemory", "profiles/eventstore/layer"},
	{"profiles/eventstore/onredis", "profiles/eventstore/layer internal/store/redis internal/store/redis/link internal/place"},
	{"profiles/eventstore/onsql", "profiles/eventstore/layer internal/store/sqlstore internal/store/sqlstore/sqltable internal/store/sqlstore/sqltext internal/place"},
	{"profiles/eventstore/oncassandra", "profiles/eventstore/layer profiles/eventstore/wire internal/store/cassandra internal/store/cassandra/cqltable internal/place internal/fault"},
	{"profiles/eventstore/box", "profiles/eventstore/facts internal/values internal/workload internal/preset internal/fault internal/suggest"},
	{"profiles/eventstore/report", "profiles/eventstore/box profiles/eventstore/generate profiles/eventstore/facts internal/chart internal/facts internal/rundir internal/units"},
	{"internal/bench", ""},
	{"internal/doctor", "internal/fault internal/session internal/store internal/units internal/verdict internal/watch/self internal/workload"},
	{"internal/facts", "internal/fault internal/preset internal/suggest internal/workload"},
	{"internal/filling", "internal/units"},
	{"internal/fleet", "internal/fault internal/measure internal/units internal/workload"},
	{"internal/fleet/view", "internal/fleet internal/measure internal/rundir internal/workload"},
	{"internal/fleet/crew", "internal/fault internal/fleet internal/fleet/view internal/measure internal/rundir internal/units internal/workload"},
	{"internal/fleet/part", "internal/engine internal/fault internal/fleet internal/measure internal/rundir internal/store internal/store/drivers internal/units internal/verdict internal/watch/self internal/workload"},
	{"internal/find/live", "internal/fault internal/find internal/report internal/rundir internal/search/found internal/session internal/units internal/workload"},
	{"internal/layers", ""},
	{"internal/lab", "internal/fault internal/lab/proc internal/suggest"},
	{"internal/objects", "internal/suggest internal/units internal/values internal/workload internal/zipf"},
	{"internal/preset", "internal/fault internal/suggest internal/workload"},
	{"internal/properties", "internal/fault"},
	{"internal/report", "internal/chart internal/compare internal/fault internal/measure internal/report/page internal/report/runpage internal/rundir internal/search/found internal/suggest internal/sweep internal/sweep/usl internal/units internal/verdict internal/workload"},
	{"internal/session", "internal/engine internal/explain internal/fault internal/fleet internal/fleet/crew internal/fleet/view internal/job internal/measure internal/place internal/planfile internal/preset internal/rundir internal/rundir/hlog internal/session/given internal/session/recall internal/session/sampler internal/session/settle internal/session/timetable internal/store internal/suggest internal/telemetry internal/threshold internal/units internal/verdict internal/watch internal/watch/self internal/workload"},
	{"internal/store/cassandra", "internal/fault internal/store internal/suggest internal/watch"},
	{"internal/store/coherence", "internal/fault internal/store internal/store/coherence/wire internal/watch"},
	{"internal/store/dtm", "internal/fault internal/store"},
	{"internal/store/memory", "internal/fault internal/store"},
	{"internal/store/null", "internal/store"},
	{"internal/store/redis", "internal/fault internal/store internal/store/redis/link internal/units"},
	{"internal/store/sqlstore", "internal/fault internal/store internal/store/sqlstore/gormlite internal/store/sqlstore/sqldial internal/store/sqlstore/sqlerror internal/store/sqlstore/sqltext internal/store/sqlstore/twophase internal/watch"},
	{"internal/size", ""},
	{"internal/sweep/rounds", "internal/fault internal/planfile internal/report internal/rundir internal/session internal/session/given internal/sweep internal/turns internal/workload"},
	{"internal/termsvg", ""},
	{"internal/threshold", "internal/fault internal/measure internal/rundir internal/suggest internal/units"},
	{"internal/typecheck", ""},
	{"internal/zipf", ""},
	{"tui", "internal/fault internal/job internal/workload tui/chart tui/dashboard tui/dashboard/starting tui/picker tui/results tui/runs tui/screen tui/sweeps tui/widget"},
}

// never lists what a package must not reach, not even through another one. A star
// stands for one name, dots for any depth.
var never = []struct{ from, to, why string }{
	{"profiles/...", "internal/engine", "a profile has never heard of clocks and goroutines"},
	{"internal/report", "internal/engine", "a format reads finished runs"},
	{"internal/store/...", "internal/engine", "a store is called, it does not call"},
	{"tui/...", "internal/engine", "screens see the engine through their own small interfaces"},
	{"tui/...", "internal/store/*", "screens know no store's driver"},
	{"tui/...", "profiles/...", "screens are given the profiles they show"},
	{"internal/...", "tui/...", "nothing below the screens knows that there are any"},
	{"profiles/...", "tui/...", "nothing below the screens knows that there are any"},
	{"profiles/group/design", "profiles/group/layer", "a design touches no store"},
	{"profiles/group/run", "profiles/group/on*", "a run knows its layer by the interface"},
	{"profiles/group/on*", "profiles/group/run", "a layer is called, it does not call"},
	{"profiles/group/on*", "profiles/group/design", "a layer is given what a design has found"},
	{"profiles/tx/saga/...", "profiles/tx/baseline", "sagas are what baseline measures the calls of"},
	{"profiles/tx/saga/...", "profiles/tx/ab", "sagas do not know who tells of them"},
	{"profiles/tx/saga/...", "profiles/tx/pbm", "the modes share no transaction"},
	{"profiles/tx/pbm", "profiles/tx/saga/...", "the modes share no transaction"},
	{"profiles/tx/baseline", "profiles/tx/ab", "a mode does not know another's document"},
	{"profiles/tx/baseline", "profiles/tx/pbm", "the modes share no transaction"},
	{"profiles/tx/ab", "profiles/tx/pbm", "the modes share no transaction"},
	{"profiles/tx/ab", "profiles/tx/baseline", "a document knows the mode that it tells of"},
	{"internal/report", "profiles/...", "the profile brings its own documents"},
	{"internal/store/...", "profiles/...", "a store has no favourite profile"},
	{"internal/telemetry", "internal/engine", "figures leave by what a run publishes, not by its calls"},
	{"internal/...", "cmd/...", "commands are at the top"},
	{"profiles/...", "cmd/...", "commands are at the top"},
	{"tui/...", "cmd/...", "commands are at the top"},
}

// lists may import their neighbours: being a list, or opening another store under
// an easier name, is all they do.
var lists = []string{"profiles", "internal/store/drivers", "internal/store/embedded"}

// shared are folders that their neighbours may import: what several of them have in
// common, and nobody else has.
var shared = []string{"profiles/padogrid"}
