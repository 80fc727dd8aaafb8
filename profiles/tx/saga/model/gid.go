package model

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// A gid has 22 characters: eight for the run, four for the worker and ten for its
// transaction, all in base 36. So the gids of a run can be distinguished from those of
// others, and can be listed without having been stored.
const (
	GidRun    = 8
	gidWorker = 4
	gidSeq    = 10
	GidLength = GidRun + gidWorker + gidSeq
)

// Stamp returns the characters that stand for a run.
func Stamp(runID string, seed int64) string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%s/%d", runID, seed) // never fails
	return string(appendBase36(nil, h.Sum64()%2821109907456, GidRun))
}

func appendBase36(b []byte, v uint64, width int) []byte {
	var digits [16]byte
	text := strconv.AppendUint(digits[:0], v, 36)
	for range width - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

// AppendGid appends the gid of a worker's transaction.
func AppendGid(b []byte, stamp string, worker int, seq int64) []byte {
	b = append(b, stamp...)
	b = appendBase36(b, uint64(worker), gidWorker)
	return appendBase36(b, uint64(seq), gidSeq)
}

// SplitGid takes apart a gid of the run; false if it belongs to another.
func SplitGid(gid, stamp string) (worker int, seq int64, ok bool) {
	if len(gid) != GidLength || gid[:GidRun] != stamp {
		return 0, 0, false
	}
	w, err1 := strconv.ParseUint(gid[GidRun:GidRun+gidWorker], 36, 31)
	n, err2 := strconv.ParseUint(gid[GidRun+gidWorker:], 36, 62)
	return int(w), int64(n), err1 == nil && err2 == nil
}
