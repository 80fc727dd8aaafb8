package layers

// layers are the floors of the house, the ground first. A package may import packages of
// lower floors and, on its own floor, those of the same folder: a store its own parts, a
// profile its own. A star stands for one name, dots for any depth; the first pattern that
// fits a package decides its floor.
var layers = []struct{ floor, packages string }{
	{"errors, and goroutines whose panics are caught", "internal/fault"},
	{"files, units, pictures, statistics, the processes of this machine", "internal/infile internal/units internal/plot internal/proxy internal/compare/stat internal/watch internal/lab/powercut"},
	{"what is measured", "internal/measure"},
	{"what a store is and was asked, and what casts doubt on a run", "internal/store internal/verdict internal/capture"},
	{"whose data are whose; servers; curves over a knob", "internal/ownership internal/lab internal/watch/self internal/sweep"},
	{"the vocabulary of a run, and its broker", "internal/workload internal/broker"},
	{"every store, the engine, what is kept of a run, YAML", "internal/store/... internal/engine internal/rundir internal/rundir/hlog internal/yaml"},
	{"values for profiles, and what is said about runs", "internal/values internal/explain internal/effect internal/compare internal/condition internal/telemetry internal/remote/..."},
	{"searches on a run", "internal/find"},
	{"requests, generated data, lists of what is kept", "internal/request internal/datagen internal/kept"},
	{"guarantees that applications check", "internal/histories"},
	{"applications, and reports", "profiles/... internal/report"},
	{"screens, and one run, whoever asks for it", "tui/... internal/session"},
	{"several runs", "internal/experiment"},
	{"commands", "cmd/..."},
}

// never lists what a package must not reach, although it is on a lower floor; not even
// through another one.
var never = []struct{ from, to, why string }{
	{"profiles/...", "internal/engine", "a profile knows neither clocks nor goroutines of a run"},
	{"tui/...", "internal/engine", "screens see a run through their own small interfaces"},
	{"tui/...", "internal/store/*", "screens know no store's driver"},
	{"tui/...", "profiles/...", "screens are given the profiles they show"},
	{"internal/report", "internal/engine", "a format reads finished runs"},
	{"internal/store/...", "internal/engine", "a store is called, it does not call"},
	{"internal/telemetry", "internal/engine", "figures leave by what a run publishes, not by its calls"},
	{"profiles/group/design", "profiles/group/on*", "a design touches no store"},
	{"profiles/group/run", "profiles/group/on*", "a run knows its adapter by the interface"},
	{"profiles/tx/saga/...", "profiles/tx/baseline", "baseline measures the calls of sagas, not the other way round"},
	{"profiles/tx/saga/...", "profiles/tx/pbm", "the modes share no transaction"},
	{"profiles/tx/pbm", "profiles/tx/saga/...", "the modes share no transaction"},
}

// neighbours are folders whose subfolders do not know each other: profiles, stores,
// screens. shared are those that the others may use all the same, lists those that exist to
// name the others.
var (
	neighbours = []string{"profiles", "internal/store", "tui"}
	shared     = []string{"profiles/padogrid", "tui/widget", "tui/chart", "tui/screen", "tui/archive"}
	lists      = []string{"profiles", "tui", "internal/store/drivers", "internal/store/embedded"}
)
