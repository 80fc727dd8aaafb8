package values

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

var (
	number   = workload.Param{Name: "n", Kind: workload.Integer, Default: "7", Min: 1, Max: 1000}
	mapNames = workload.Param{Name: "mapNames", Kind: workload.List, Default: "eligibility"}
)

// of makes a reader of one value, given in a file of that name.
func of(file, name, text string) *Reader {
	return New(workload.Values{name: {Name: name, Text: text, Origin: workload.OriginFile, Where: file + ":3"}})
}

func TestIntegersAreReadAsTheirPlaceSays(t *testing.T) {
	for _, tt := range []struct {
		file, text      string
		compat, lenient bool
		want            int64
		warning, err    string
	}{
		{"a.properties", "12", false, false, 12, "", ""},
		{"a.properties", "0x1F", false, false, 31, "", ""},
		{"a.properties", "010", false, false, 8, "octal: 8", ""},
		{"a.yaml", "010", false, false, 10, "", ""},
		{"a.properties", "12 ", false, false, 12, "blanks around \"12\" are dropped", ""},
		{"a.properties", "12 ", true, false, 7, "not set, so 7 (compat=on)", ""},
		{"a.properties", "1_00", false, false, 7, "", `a.properties:3: n: "1_00" is not a whole number`},
		{"a.properties", "1_00", false, true, 100, `"1_00" is read as 100`, ""},
		{"a.properties", "1e2", false, true, 100, `"1e2" is read as 100`, ""},
		{"a.properties", "many", false, true, 7, "", `"many" is not a whole number`},
		{"a.properties", "2000", false, false, 7, "", "2000 is not in 1..1000"},
		{"a.properties", "1e4", false, true, 7, "read as 10000", "10000 is not in 1..1000"},
		{"a.yaml", "2000", false, false, 7, "", "is not in 1..1000"},
	} {
		t.Run(tt.file+" "+tt.text, func(t *testing.T) {
			r := of(tt.file, "n", tt.text)
			r.Compat, r.Lenient = tt.compat, tt.lenient
			assert.Equal(t, tt.want, r.Whole(number))
			if tt.warning == "" {
				assert.Empty(t, r.Warnings)
			} else {
				require.Len(t, r.Warnings, 1)
				assert.Contains(t, r.Warnings[0], tt.warning)
			}
			err := r.Problems.Err()
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.err)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestWhatIsReadIsShownWithItsOrigin(t *testing.T) {
	r := of("a.yaml", "size", "64KiB")
	assert.EqualValues(t, 65536, r.Whole(workload.Param{Name: "size", Kind: workload.Size, Default: "1024", Min: 1, Max: 1 << 20}))
	assert.InDelta(t, 0.5, r.Number(workload.Param{Name: "part", Default: "0.5", Max: 1}), 0)
	assert.Equal(t, "1s", r.Duration(workload.Param{Name: "wait", Default: "1s"}).String())
	assert.False(t, r.OnOff(workload.Param{Name: "on", Default: "off"}))
	assert.Equal(t, "get", r.Choice(workload.Param{Name: "word", Default: "get", Choices: []string{"get", "put"}}))
	require.NoError(t, r.Problems.Err())
	var got []string
	for _, v := range r.Shown {
		got = append(got, v.Name+"="+v.Text+" "+v.From())
	}
	assert.Equal(t, []string{"size=64KiB file a.yaml:3", "part=0.5 default", "wait=1s default", "on=off default", "word=get default"}, got)
}

func TestTextOfPropertiesLosesItsBlanks(t *testing.T) {
	r := of("a.properties", "prefix", " k ")
	assert.Equal(t, "k", r.Text(workload.Param{Name: "prefix"}))
	assert.Contains(t, r.Warnings[0], "PadoGrid would keep them")
	assert.Equal(t, "k", r.Text(workload.Param{Name: "prefix"}))
	assert.Len(t, r.Warnings, 1, "a sentence is said once")
	r.Compat = true
	assert.Equal(t, " k ", r.Text(workload.Param{Name: "prefix"}))
}

func TestMapNames(t *testing.T) {
	for _, tt := range []struct {
		text   string
		compat bool
		want   []string
		err    string
	}{
		{"profile, Eligibility,profile", false, []string{"profile", "eligibility"}, ""},
		{"profile, eligibility", true, []string{"profile"}, ""},
		{"profiel", false, nil, `"profiel" (file a.properties:3) is not one of eligibility, profile`},
		{" , ", false, nil, "names no map"},
	} {
		r := of("a.properties", "mapNames", tt.text)
		r.Compat = tt.compat
		assert.Equal(t, tt.want, r.MapNames(mapNames, []string{"eligibility", "profile"}), tt.text)
		if tt.err == "" {
			require.NoError(t, r.Problems.Err(), tt.text)
		} else {
			require.ErrorContains(t, r.Problems.Err(), tt.err)
		}
	}
}

func TestFilesNameWhatHasNoEffect(t *testing.T) {
	known := []string{"n", "prefix"}
	read := func(f workload.File) ([]workload.Value, workload.Found, error) {
		if IsYAML(f.Path) {
			vs, err := YAML(f, known)
			return vs, workload.Found{}, err
		}
		return Properties(f, func(name string) string { return Ignored(name, known) })
	}
	vs, found, err := Files([]workload.File{
		{Path: "a.properties", Data: []byte("n=1\nprefik=x\nsummary.n=2\nexecutable.name=y\n")},
		{Path: "b.YML", Data: []byte("n: 2\n")},
	}, read)
	require.NoError(t, err)
	assert.Equal(t, "2", vs["n"].Text)
	assert.Len(t, vs, 1)
	assert.Equal(t, []string{
		"a.properties:2: prefik is unknown and has no effect; did you mean prefix?",
		"a.properties:3: summary.n is unknown and has no effect",
		"a.properties:4: executable.name has no effect here; PadoGrid's test does not read it either",
		"a.properties:1: n is set again in " + vs["n"].Where + ", which wins",
	}, found.Warnings)
	var became []string
	for _, k := range found.Keys {
		became = append(became, k.Key+"="+k.Value+" "+k.Text)
	}
	assert.Equal(t, []string{
		"n=1 is set again in " + vs["n"].Where + ", which wins",
		"prefik=x is unknown and has no effect; did you mean prefix?",
		"summary.n=2 is unknown and has no effect",
		"executable.name=y has no effect here; PadoGrid's test does not read it either",
		"n=2 ",
	}, became)

	_, _, err = Files([]workload.File{{Path: "b.yaml", Data: []byte("prefik: 2\n")}, {Path: "dir"}}, read)
	require.ErrorContains(t, err, `there is no knob or parameter "prefik"`)
	require.ErrorContains(t, err, "file dir: is a folder")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}

func TestAFileThatSetsNothingIsNamed(t *testing.T) {
	for _, data := range []string{"", "# nothing\n", "prefik=x\n"} {
		vs, found, err := Properties(workload.File{Path: "a.properties", Data: []byte(data)}, func(name string) string { return Ignored(name, []string{"n"}) })
		require.NoError(t, err)
		assert.Empty(t, vs)
		assert.Contains(t, found.Warnings, "a.properties: sets nothing that is read here, so the defaults apply")
	}
}

func TestSizesReadBack(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 512: "512", 1024: "1KiB", 1000: "1000", 65536: "64KiB", 1025: "1025"} {
		assert.Equal(t, want, BytesText(n))
	}
}
