package lab

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
)

// What the SQL servers of the lab have in common: a user and a database, and no
// password, since they listen on the loopback device only.
const (
	sqlUser     = "pb"
	sqlDatabase = "perfbench"
)

// once runs a program of Needs to its end, as the given user of the system or as us,
// with its output in the file setup.log of dir.
func (h *host) once(ctx context.Context, dir, as, program string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(dir, "setup.log"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the program wrote it
	cmd := exec.CommandContext(ctx, h.binaries[program], args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir, "LC_ALL=C"}
	if err := Detach(cmd, true); err != nil {
		return err
	}
	if err := ActAs(cmd, as); err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text, _ := os.ReadFile(log.Name()) // without it the exit status must do
		return fmt.Errorf("%s: %w: %s", program, err, complaint(string(text)))
	}
	return nil
}

var failure = regexp.MustCompile(`(?i)error|killed|abort|signal|core dumped|no space|cannot|could not`)

// complaint picks from the output of a failed program the lines that say why: those
// that mention a failure, at most three, or else the last three.
func complaint(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	var told []string
	for _, line := range lines {
		if len(told) < 3 && failure.MatchString(line) {
			told = append(told, strings.TrimSpace(line))
		}
	}
	if told == nil {
		told = lines[max(0, len(lines)-3):]
	}
	return strings.Join(told, " | ")
}

// away makes the folder of a process that must not run as root. The folders above the
// lab's state may be closed to other users, and changing their permissions is not our
// business; so its data go to a place that everybody can enter, and it runs as the
// first of the users that exists. If we are not root, it returns "", "".
func (h *host) away(users ...string) (dir, as string, err error) {
	if os.Geteuid() != 0 {
		return "", "", nil
	}
	for _, name := range users {
		if _, err := user.Lookup(name); err != nil {
			continue
		}
		if dir, err = os.MkdirTemp("", "perfbench-lab-"+h.service.Name+"-"); err != nil {
			return "", "", err
		}
		h.rec.Away = dir
		if err := h.rec.save(); err != nil {
			return "", "", err
		}
		return dir, name, own(dir, name)
	}
	return "", "", fault.Store(fmt.Errorf("it does not run as root, and there is no user %s", strings.Join(users, " or ")),
		"start the lab as another user")
}

// own gives a file to a user of the system; "" means ourselves.
func own(path, as string) error {
	if as == "" {
		return nil
	}
	u, err := user.Lookup(as)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	return os.Chown(path, uid, -1)
}

// settings turns server arguments into lines "name = value" of a configuration file; an
// argument with -- is a name.
func settings(args []string, quote func(string) string) ([]string, error) {
	var lines []string
	for _, a := range args {
		name, option := strings.CutPrefix(a, "--")
		switch {
		case option:
			lines = append(lines, name)
		case len(lines) == 0 || strings.Contains(lines[len(lines)-1], " = "):
			return nil, fault.Input(fmt.Errorf("server argument %q: it must follow one that begins with --", a), "")
		default:
			lines[len(lines)-1] += " = " + quote(a)
		}
	}
	return lines, nil
}

// withSQL runs f with a database handle of one connection.
func withSQL(db *sql.DB, f func(db *sql.DB) error) error {
	defer db.Close()
	db.SetMaxOpenConns(1)
	return f(db)
}

// isOurs asks a server where its data are, which distinguishes ours from another server
// on the same port.
func isOurs(ctx context.Context, db *sql.DB, question, dir string) error {
	var got string
	if err := db.QueryRowContext(ctx, question).Scan(&got); err != nil {
		return err
	}
	if filepath.Clean(got) != dir {
		return fmt.Errorf("a server with its data in %s answers on its port: %w", got, errPortTaken)
	}
	return nil
}
