package datagen

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

var sizes = []int{0, 1, 15, 16, 17, 100, 4096, textBytes - 1, textBytes, textBytes + headBytes + 1, 3*textBytes + 7}

func TestAFillingIsAsLongAsWanted(t *testing.T) {
	for _, n := range sizes {
		got := Append([]byte("before"), Of("x1", 2), n)
		if len(got) != len("before")+n || !bytes.HasPrefix(got, []byte("before")) {
			t.Fatalf("%d bytes: got %d", n, len(got)-len("before"))
		}
		if err := Check(got[len("before"):], Of([]byte("x1"), 2)); err != nil {
			t.Errorf("%d bytes: %v", n, err)
		}
		if text, err := json.Marshal(string(got)); err != nil || len(text) != len(got)+2 {
			t.Errorf("%d bytes: JSON writes it with %d", n, len(text)-2)
		}
	}
}

func TestAnotherFillingIsToldFromTheRightOne(t *testing.T) {
	for _, n := range sizes[3:] {
		right := Append(nil, Of("x1", 0), n)
		last := append(bytes.Clone(right[:n-1]), '-')
		for name, got := range map[string][]byte{
			"of another record": Append(nil, Of("x2", 0), n), "of another part": Append(nil, Of("x1", 1), n),
			"cut": right[:n-1], "longer": append(bytes.Clone(right), 'a'), "changed at the end": last,
		} {
			if Check(got, Of("x1", 0)) == nil {
				t.Errorf("%d bytes, %s: taken for the right one", n, name)
			}
		}
	}
}

func TestSizesThatWereNotSet(t *testing.T) {
	var s Sizes
	if err := s.Check(7); err != nil {
		t.Errorf("none was set: %v", err)
	}
	for _, n := range []int{64, 0, 64, 1024} {
		s.Note(n)
	}
	for n, ok := range map[int]bool{0: true, 64: true, 1024: true, 65: false} {
		if err := s.Check(n); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := s.Check(65); err == nil || !strings.Contains(err.Error(), "3 other sizes from 0 to 1024") {
		t.Errorf("the sizes are not told: %v", err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	buf, name := make([]byte, 0, 200_000), "0123456789abcdef"
	if n := testing.AllocsPerRun(100, func() {
		buf = Append(buf[:0], Of(name, 1), 150_000)
		if Check(buf, Of(name, 1)) != nil {
			t.Error("it is not the right one")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
