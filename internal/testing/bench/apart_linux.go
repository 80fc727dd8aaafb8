package bench

import (
	"os"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Apart gives this process and the servers of srv a processor each until the benchmark ends, so that
// neither takes time from the other: this process the first, the servers the last. With one
// processor, the benchmark is skipped.
func Apart(b *testing.B, srv *labtest.Server) {
	b.Helper()
	last := runtime.NumCPU() - 1
	if last == 0 {
		b.Skip("SKIPPED, NOTHING WAS MEASURED: there is one processor")
	}
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		b.Fatal(err)
	}
	pin(b, os.Getpid(), only(0))
	threads := runtime.GOMAXPROCS(1)
	for _, pid := range srv.PIDs() {
		pin(b, pid, only(last))
	}
	b.Cleanup(func() {
		pin(b, os.Getpid(), all)
		runtime.GOMAXPROCS(threads)
		for _, pid := range srv.PIDs() {
			pin(b, pid, all)
		}
	})
}

func only(processor int) (s unix.CPUSet) {
	s.Set(processor)
	return s
}

// pin lets all threads of a process run only on the processors of a set; threads that they start
// inherit it.
func pin(b *testing.B, pid int, on unix.CPUSet) {
	b.Helper()
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err == nil {
			err = unix.SchedSetaffinity(id, &on)
		}
		if err != nil && err != unix.ESRCH { //nolint:errorlint // an errno
			b.Fatal(err)
		}
	}
}
