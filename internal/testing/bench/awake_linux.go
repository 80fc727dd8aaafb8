package bench

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Awake keeps all processors from idling until the benchmark ends: on each there is a process that
// does nothing and gives way to every other. An idle processor of a virtual machine is halted, and
// to wake it can take longer than a call to a server does.
func Awake(b *testing.B) {
	b.Helper()
	for i := range runtime.NumCPU() {
		c := exec.Command("sh", "-c", `while kill -0 "$PPID"; do :; done`) // until we end
		if err := c.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait() // it was killed
		})
		pin(b, c.Process.Pid, only(i))
		if err := unix.SchedSetAttr(c.Process.Pid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
