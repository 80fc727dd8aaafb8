package explain

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// diskSync detects a store that waits for its log to reach the disk before it answers.
func diskSync(s *stretch) found {
	for _, look := range []func(*stretch) []string{loopSync, aofSync, walSync, commitSync, commitLog} {
		if evidence := look(s); evidence != nil {
			return found{limit: "the store's disk", hint: "it answers only once its log is on disk", uses: s.disk(), evidence: append(evidence, s.waited()...)}
		}
	}
	return found{}
}

// loopSync handles Redis from 7.2 on, which reports how busy its main thread is.
func loopSync(s *stretch) []string {
	on, _, ok := s.most(rundir.OfStore, "aof_syncs_each_write")
	busy, _, told := s.most(rundir.OfStore, "main_thread_busy_ms_per_s")
	used, _, known := s.most(rundir.OfStore, "main_thread_cpu_cores")
	queue, _ := s.mean(rundir.OfProcess, "main_thread_run_queue_cores")
	if !ok || on < 1 || !told || !known || busy < 1000*threadFull || used+queue > halfIdle {
		return nil
	}
	return []string{fmt.Sprintf("it syncs its append-only file after each write (appendfsync always), and its main thread was busy in %s of the time and used %s of one processor", percent(min(busy/1000, 1)), rundir.Decimals(used))}
}

// aofSync handles older versions of Redis, which only report that they sync each write.
func aofSync(s *stretch) []string {
	on, _, ok := s.most(rundir.OfStore, "aof_syncs_each_write")
	used, _, known := s.most(rundir.OfStore, "main_thread_cpu_cores")
	if !ok || on < 1 || !known || used > halfIdle {
		return nil
	}
	queue, _ := s.mean(rundir.OfProcess, "main_thread_run_queue_cores")
	waits, told := s.mean(rundir.OfProcess, "main_thread_in_disk")
	busy, _ := s.mean(rundir.OfMachine, "disk_busy_share")
	if !told || waits < inDisk && (busy < inDisk || waits == 0 || used+queue > halfIdle) {
		return nil
	}
	return []string{fmt.Sprintf("it syncs its append-only file after each write (appendfsync always), and its main thread was waiting for the disk in %s of the samples and used %s of one processor", percent(waits), rundir.Decimals(used))}
}

// walSync handles PostgreSQL, by what its connections wait for.
func walSync(s *stretch) []string {
	n, ok := s.mean(rundir.OfStore, "log_sync_waiters")
	running, known := s.mean(rundir.OfStore, "running")
	if !ok || !known || running <= 0 || n < waiting*running || running < waiting*min(s.threads, s.poolSize()) {
		return nil
	}
	return []string{fmt.Sprintf("on average %s of %s running statements waited for the write-ahead log to be written", rundir.Decimals(n), rundir.Decimals(running)) + s.syncs("wal_syncs_per_s", "wal_sync_ms_per_s")}
}

// commitSync handles MySQL and MariaDB, by the state of their threads.
func commitSync(s *stretch) []string {
	n, ok := s.mean(rundir.OfStore, "committing_threads")
	if !ok || s.threads <= 0 || n < waiting*min(s.threads, s.poolSize()) {
		return nil
	}
	out := fmt.Sprintf("on average %s of %s threads were committing when the store was asked", rundir.Decimals(n), units.Number(s.threads))
	return []string{out + s.syncs("syncs_per_s", "log_file_ms_per_s")}
}

// syncs says how often a store synced and, if it reports that, for how long in total.
func (s *stretch) syncs(often, long string) string {
	n, ok := s.mean(rundir.OfStore, often)
	if !ok {
		return ""
	}
	out := ", and it synced " + units.Number(n) + " times a second"
	if ms, ok := s.mean(rundir.OfStore, long); ok && ms > 0 {
		out += ", which took " + percent(ms/1000) + " of the time"
	}
	return out
}

// commitLog handles Cassandra, by writes that waited for its commit log.
func commitLog(s *stretch) []string {
	n, ok := s.mean(rundir.OfStore, "waits_for_commit_log_per_s")
	if !ok || s.done <= 0 || n < waiting*s.done {
		return nil
	}
	return []string{fmt.Sprintf("%s writes a second waited for the commit log", units.Number(n))}
}

// poolSize returns how many calls can be in progress at once; without a pool there is
// no limit.
func (s *stretch) poolSize() float64 {
	if o := s.f.Run.Observed; o != nil && o.PoolSize > 0 {
		return float64(o.PoolSize)
	}
	return s.threads
}

// waited says how long the store waited for its disk according to its own log.
func (s *stretch) waited() []string {
	k, ok := s.longest(func(n verdict.Noted) bool { return strings.HasPrefix(n.Event, "aof-") })
	if !ok {
		return nil
	}
	return []string{"by its latency monitor, " + k.describe()}
}

// disk says how busy the disk was.
func (s *stretch) disk() []rundir.Use {
	busy, ok := s.mean(rundir.OfMachine, "disk_busy_share")
	if !ok {
		return nil
	}
	note := ""
	if v, ok := s.mean(rundir.OfProcess, "disk_written_bytes_per_s"); ok {
		note = "the store wrote " + units.Size(int64(v)) + " a second"
	}
	return []rundir.Use{{What: "busiest disk", Used: min(busy, 1), Of: 1, Unit: rundir.UsedTime, Note: note, Limit: true}}
}
