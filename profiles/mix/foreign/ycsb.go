package foreign

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// ycsbData is the name of the table that nothing else is said of.
const ycsbData = "usertable"

// ycsbExponent is that of every Zipf distribution of YCSB.
const ycsbExponent = 0.99

// unsaid is how many records there are if recordcount is given on YCSB's command line.
const unsaid = 1000

// ycsb is a property file of YCSB's core workload.
type ycsb struct {
	notes
	path string
	at   map[string]values.JavaEntry
}

// ycsbKeys are what becomes of each key: "" is done, or noted where it is used, and
// anything else is said of it.
var ycsbKeys = map[string]string{
	"recordcount": "", "operationcount": "", "workload": "", "insertcount": "", "insertstart": "", "table": "",
	"fieldcount": "", "fieldlength": "", "minfieldlength": "", "fieldlengthdistribution": "", "fieldlengthhistogram": "", "fieldnameprefix": "",
	"readallfields": "", "writeallfields": "", "dataintegrity": "", "zeropadding": "", "insertorder": "",
	"readproportion": "", "updateproportion": "", "insertproportion": "", "scanproportion": "", "readmodifywriteproportion": "",
	"requestdistribution": "", "minscanlength": "", "maxscanlength": "", "scanlengthdistribution": "", "hotspotdatafraction": "", "hotspotopnfraction": "",
	"exponential.percentile": "", "exponential.frac": "", "threadcount": "", "target": "", "maxexecutiontime": "",

	"readallfieldsbyname":                    "no effect: all fields of a record are read by one call either way",
	"core_workload_insertion_retry_limit":    "no effect: an insert that fails is counted as an error, and not tried again",
	"core_workload_insertion_retry_interval": "no effect: an insert that fails is counted as an error, and not tried again",
	"columnfamily":                           "no effect: the fields of a record are columns of one table",
	"db":                                     ourTarget,
	"dotransactions":                         "no effect: use --load only",
	"exporter":                               "no effect: --format ycsb writes the text of YCSB's exporter",
	"exportfile":                             "no effect: reports are written to --out",
	"status":                                 ourOutput,
	"status.interval":                        ourOutput,
	"label":                                  "no effect: use --tag",
	"measurementtype":                        ourOutput,
	"histogram.buckets":                      ourOutput,
	"timeseries.granularity":                 ourOutput,
	"reportlatencyforeacherror":              ourOutput,
	"latencytrackederrors":                   ourOutput,
	"dataintegrity.verify":                   ourOutput,
	"measurement.interval":                   "no effect: response and service times are both measured",
	"measurement.trackjvm":                   ourOutput,
	"measurement.raw.output_file":            ourOutput,
	"measurement.histogram.verbose":          ourOutput,
	"hdrhistogram.percentiles":               ourOutput,
	"hdrhistogram.fileoutput":                "no effect: latency.hlog is always written",
	"hdrhistogram.output.path":               "no effect: latency.hlog is always written",
	"silence":                                ourOutput,
	"basicdb.verbose":                        "no effect: it is for another store",
	"basicdb.simulatedelay":                  "no effect: it is for another store",
}

// hasYCSB reports whether a file sets a key of YCSB's core workload.
func hasYCSB(f workload.File) bool {
	file, err := values.ReadProperties(f.Path, f.Data)
	if err != nil { // cut short, perhaps: what is left of it tells
		return strings.Contains(string(f.Data), "recordcount") || strings.Contains(string(f.Data), "proportion")
	}
	return slices.ContainsFunc(file.Entries, func(e values.JavaEntry) bool { _, ok := ycsbKeys[e.Key]; return ok })
}

func readYCSB(f workload.File) (*model.Workload, []workload.FileKey, error) {
	file, err := values.ReadProperties(f.Path, f.Data)
	if err != nil {
		return nil, nil, err
	}
	y := &ycsb{path: f.Path, at: map[string]values.JavaEntry{}}
	for _, e := range file.Entries {
		if old, ok := y.at[e.Key]; ok {
			y.about(y.where(old), e.Key, "no effect: it is set again on line %d", e.Line)
		}
		y.at[e.Key] = e
	}
	w := y.workload()
	w.Name = base(f.Path)
	y.rest()
	return w, y.notes, nil
}

func (y *ycsb) where(e values.JavaEntry) string { return fmt.Sprintf("%s:%d", y.path, e.Line) }

// rest notes what became of keys of which nothing was said so far.
func (y *ycsb) rest() {
	said := map[string]bool{}
	for _, n := range y.notes {
		said[n.Where+n.Key] = true
	}
	keys := slices.SortedFunc(maps.Keys(y.at), func(a, b string) int { return y.at[a].Line - y.at[b].Line })
	for _, key := range keys {
		where := y.where(y.at[key])
		what, known := ycsbKeys[key]
		switch {
		case said[where+key]:
		case known && what == "":
			y.done(where, key)
		case known:
			y.about(where, key, "%s", what)
		case !ownYCSB(key):
			y.about(where, key, "no effect: the store, and how it is reached, are named by --target")
		default:
			y.unknown(where, key, "the core workload of YCSB", slices.Sorted(maps.Keys(ycsbKeys)))
		}
	}
}

// ownYCSB reports whether a key is of YCSB itself, and not of the binding of a store.
func ownYCSB(key string) bool {
	group, _, dotted := strings.Cut(key, ".")
	return !dotted || slices.Contains([]string{"exponential", "measurement", "hdrhistogram", "histogram", "timeseries", "status", "basicdb"}, group)
}

// text returns a value, or what is so without it.
func (y *ycsb) text(key, without string) string {
	if e, ok := y.at[key]; ok {
		return strings.TrimSpace(e.Value)
	}
	return without
}

// wrong refuses the value of a key.
func (y *ycsb) wrong(key, format string, args ...any) {
	y.refuse(y.where(y.at[key]), key, format, args...)
}

// differs notes how the value of a key is only approximated.
func (y *ycsb) differs(key, format string, args ...any) {
	if e, ok := y.at[key]; ok {
		y.about(y.where(e), key, format, args...)
	}
}

func (y *ycsb) whole(key string, without, lo, hi int64) int64 {
	text := y.text(key, "")
	if text == "" {
		return without
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < lo || n > hi {
		y.wrong(key, "%q is not a whole number from %d to %d", text, lo, hi)
		return without
	}
	return n
}

func (y *ycsb) number(key string, without, lo, hi float64) float64 {
	text := y.text(key, "")
	if text == "" {
		return without
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= lo && n <= hi) {
		y.wrong(key, "%q is not a number from %g to %g", text, lo, hi)
		return without
	}
	return n
}

func (y *ycsb) bool(key string, without bool) bool {
	switch text := strings.ToLower(y.text(key, "")); text {
	case "":
		return without
	case "true", "false":
		return text == "true"
	default:
		y.wrong(key, "%q is neither true nor false", text)
		return without
	}
}

// word returns a value that is one of some words.
func (y *ycsb) word(key, without string, words ...string) string {
	text := y.text(key, without)
	if !slices.Contains(words, text) {
		y.wrong(key, "%q is not one of %s", text, strings.Join(words, ", "))
		return without
	}
	return text
}

const most = math.MaxInt64 / 4

func (y *ycsb) workload() *model.Workload {
	class := y.text("workload", "CoreWorkload")
	if name := class[strings.LastIndexByte(class, '.')+1:]; name != "CoreWorkload" && name != "core" {
		y.wrong("workload", "%q: only CoreWorkload is read", class)
	}
	records := y.whole("recordcount", 0, 0, most)
	if records == 0 {
		records = unsaid
		if _, ok := y.at["recordcount"]; ok {
			y.differs("recordcount", "%d records: YCSB would take it for 2147483647; use --records", unsaid)
		} else {
			y.about(y.path+":1", "recordcount", "it is not set here, so there are %d records; use --records", unsaid)
		}
	}
	d := model.Data{
		Name: y.table(), Type: model.Hash, Records: records, Size: y.fieldLength(),
		Key: model.KeyForm{Prefix: "user", Hashed: y.word("insertorder", "hashed", "hashed", "ordered") == "hashed"},
	}
	if zeros := y.whole("zeropadding", 1, 1, 200); zeros > 1 {
		d.Key.Length = len(d.Key.Prefix) + int(zeros)
	}
	prefix := y.text("fieldnameprefix", "field")
	for i := range y.whole("fieldcount", 10, 1, 1000) {
		d.Fields = append(d.Fields, model.Field{Name: prefix + strconv.FormatInt(i, 10)})
	}
	y.bool("dataintegrity", false) // what is read is always checked
	return &model.Workload{
		Data: []model.Data{d}, Operations: y.operations(&d),
		Run: model.Run{
			Threads: int(y.whole("threadcount", 1, 1, 1e6)), Count: y.whole("operationcount", 0, 0, most),
			Rate: y.number("target", 0, 0, 1e12), Duration: time.Duration(y.whole("maxexecutiontime", 0, 0, 1e9)) * time.Second,
		},
	}
}

// table returns the name of the table.
func (y *ycsb) table() string {
	name := y.text("table", ycsbData)
	if !isName(name) {
		y.wrong("table", "%q: begin with a letter and go on with letters, digits and _", name)
		return ycsbData
	}
	return name
}

func (y *ycsb) fieldLength() model.Number {
	long := y.whole("fieldlength", 100, 1, mostValue)
	short := y.whole("minfieldlength", 1, 1, mostValue)
	switch kind := y.word("fieldlengthdistribution", "constant", "constant", "uniform", "zipfian", "histogram"); {
	case kind == "histogram":
		y.wrong("fieldlengthdistribution", "a table of sizes in another file is not read; use uniform or zipfian")
	case kind != "constant" && short > long:
		y.wrong("minfieldlength", "%d is above fieldlength, %d", short, long)
	case kind == "uniform":
		return model.Between(short, long)
	case kind == "zipfian":
		return model.Number{Kind: model.Skewed, Min: short, Max: long, Exponent: ycsbExponent}
	}
	if y.text("fieldlengthdistribution", "constant") == "constant" {
		y.differs("minfieldlength", "no effect, as fieldlengthdistribution is constant")
	}
	y.differs("fieldlengthhistogram", "no effect, as fieldlengthdistribution is not histogram")
	return model.One(long)
}

// operations returns the five operations, as far as there are any of them.
func (y *ycsb) operations(d *model.Data) []model.Operation {
	read, written := 0, 1
	if !y.bool("readallfields", true) {
		read = 1
	}
	if y.bool("writeallfields", false) {
		written = 0
	}
	keys := y.keys(d.Records)
	var out []model.Operation
	add := func(name, key string, without float64, s model.Step) {
		weight := y.number(key, without, 0, 1e9)
		if weight == 0 {
			return
		}
		s.Data, s.Where = d.Name, y.path+":1"
		if e, ok := y.at[key]; ok {
			s.Where = y.where(e)
		}
		out = append(out, model.Operation{Name: name, Weight: weight, Steps: []model.Step{s}})
	}
	add("read", "readproportion", 0.95, model.Step{Do: model.Get, Keys: keys, Fields: read})
	add("update", "updateproportion", 0.05, model.Step{Do: model.Update, Keys: keys, Fields: written})
	add("insert", "insertproportion", 0, model.Step{Do: model.Insert})
	add("scan", "scanproportion", 0, model.Step{Do: model.Scan, Keys: keys, Count: y.scanLength(), Fields: read})
	add("readmodifywrite", "readmodifywriteproportion", 0, model.Step{Do: model.Modify, Keys: keys, Fields: written})
	if len(out) == 0 {
		y.refuse(y.path+":1", "readproportion", "all proportions are 0, so that nothing is to be done")
	}
	return out
}

func (y *ycsb) scanLength() model.Number {
	short, long := y.whole("minscanlength", 1, 1, 1e9), y.whole("maxscanlength", 1000, 1, 1e9)
	switch {
	case short > long:
		y.wrong("minscanlength", "%d is above maxscanlength, %d", short, long)
	case y.word("scanlengthdistribution", "uniform", "uniform", "zipfian") == "zipfian":
		return model.Number{Kind: model.Skewed, Min: short, Max: long, Exponent: ycsbExponent}
	}
	return model.Between(short, max(short, long))
}

// keys returns how records are requested.
func (y *ycsb) keys(records int64) model.Keys {
	k := model.Keys{From: y.whole("insertstart", 0, 0, most)}
	count := y.whole("insertcount", 0, 0, most)
	if k.From+count > records || k.From >= records {
		key := "insertstart"
		if count > 0 {
			key = "insertcount"
		}
		y.wrong(key, "recordcount, %d, must be at least insertstart and insertcount together", records)
		k.From, count = 0, 0
	}
	if count > 0 {
		k.To = k.From + count
	}
	hot, calls := y.number("hotspotdatafraction", 0.2, 0, 1), y.number("hotspotopnfraction", 0.8, 0, 1)
	percentile, frac := y.number("exponential.percentile", 95, 0, 100), y.number("exponential.frac", 0.8571428571, 0, 1)
	switch y.word("requestdistribution", "uniform", "uniform", "zipfian", "latest", "hotspot", "sequential", "exponential") {
	case "zipfian":
		k.Kind, k.Exponent = model.Zipf, ycsbExponent
		y.differs("requestdistribution", "by Zipf's law with an exponent of 0.99 over the records that there are, scattered one to one; YCSB draws from ten thousand million ranks and wraps them around, which is a little flatter")
	case "latest":
		k = model.Keys{Kind: model.Latest, Exponent: ycsbExponent}
	case "hotspot":
		k.Kind, k.Hot, k.HotCalls = model.HotSet, share(hot), share(calls)
	case "sequential":
		k.Kind = model.Sequential
	case "exponential":
		k = model.Keys{Kind: model.LatestExponential, Hot: share(frac), HotCalls: share(percentile / 100)}
	default:
		k.Kind = model.Uniform
		if k.To == 0 {
			k.To = records // inserted records are not requested
		}
	}
	return k
}
