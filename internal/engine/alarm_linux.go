package engine

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes a goroutine at a precise moment. The runtime's timers end in an
// epoll_wait whose timeout is in whole milliseconds. A timerfd in the same epoll
// set ends that wait within microseconds of the requested time, without a thread
// of its own and without spinning. An alarm belongs to the worker that took it.
type alarm struct {
	file *os.File
	conn syscall.RawConn
	wait func(fd uintptr) bool // bound once, so that sleeping allocates nothing
	set  unix.ItimerSpec
	on   bool
}

// newAlarm returns an alarm, or an error if there is no file descriptor left.
func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	a := &alarm{file: os.NewFile(uintptr(fd), "alarm")}
	if a.conn, err = a.file.SyscallConn(); err != nil {
		a.close()
		return nil, err
	}
	a.wait = a.arm
	return a, nil
}

// arm is called twice by each sleep: when the poller is ready to wait, and when
// the moment has come. Setting a timer anew clears its expiry count, so it need
// not be read.
func (a *alarm) arm(fd uintptr) bool {
	if a.on {
		return true
	}
	a.on = true
	return unix.TimerfdSettime(int(fd), 0, &a.set, nil) != nil
}

// sleep returns after about d, rarely earlier. It returns false if it cannot
// sleep.
func (a *alarm) sleep(d time.Duration) bool {
	a.on, a.set.Value = false, unix.NsecToTimespec(int64(max(d, 1)))
	return a.conn.Read(a.wait) == nil
}

func (a *alarm) close() { _ = a.file.Close() }

// virtualTime reports whether this goroutine's clock is not the machine's, as in
// a bubble of testing/synctest, where a real alarm would be wrong.
func virtualTime() bool {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &ts) != nil {
		return true
	}
	return time.Since(time.Unix(ts.Unix())).Abs() > time.Minute
}
