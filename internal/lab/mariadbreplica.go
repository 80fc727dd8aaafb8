package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func mariadbReplicaService() Service {
	one := mariadbService()
	return Service{
		Name:    "mariadb-replica",
		Summary: "a MariaDB primary and its replica, which takes over if the primary ends",
		Needs: append(one.Needs,
			Need{Binary: "mariadb", Package: "mariadb-client", Dirs: mariadbDirs},
			Need{Binary: "mariadb-dump", Package: "mariadb-client", Dirs: mariadbDirs}),
		start: startMariaDBReplica,
		find:  findByRecord,
		look:  lookMariaDB,
		takeover: &takeover{
			promote: promoteMariaDB,
			rejoin:  rejoinMariaDB,
		},
		answers:  mariadbAnswers,
		settings: mariadbReplicaSettings(),
	}
}

// semiSync is the setting by which a primary waits for its replica.
const semiSync = "rpl_semi_sync_master_enabled"

// mariadbReplicaSettings are those of a server, and those of replication.
func mariadbReplicaSettings() map[string][]string {
	all := mariadbSettings()
	all[semiSync] = []string{"--rpl_semi_sync_master_wait_point", "AFTER_SYNC"} // nobody sees what the replica has not
	all["rpl_semi_sync_master_timeout"] = append([]string{"--" + semiSync, "ON"}, all[semiSync]...)
	return all
}

// ofReplica are arguments of a server as long as it is a replica. It waits for nobody.
var ofReplica = []string{"--read-only=ON", "--rpl-semi-sync-master-enabled=OFF"}

func startMariaDBReplica(ctx context.Context, h *host) error {
	ports, err := h.freePorts(len(pairNames), 0)
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	h.step("making the system tables of MariaDB")
	for i, name := range pairNames {
		dir := h.folder(name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if i == 0 {
			err = mariadbTables(ctx, h, dir, me.Username)
		} else {
			err = os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join(h.folder(pairNames[0]), "data")))
		}
		if err != nil {
			return err
		}
	}
	for i, name := range pairNames {
		conf, err := mariadbConf(h, h.folder(name), ports[i], me.Username, fmt.Sprintf("server-id = %d", i+1),
			"log-bin = binlog", "binlog-format = ROW", "log-slave-updates", "rpl-semi-sync-slave-enabled = ON", "slave-net-timeout = 5")
		if err != nil {
			return err
		}
		command := []string{"mariadbd", "--defaults-file=" + filepath.Join(h.folder(name), "my.cnf")}
		if i > 0 {
			command = append(command, ofReplica...)
		}
		_, err = h.spawn(ctx, spec{
			Name: name, Addr: Addr(ports[i]), Command: command,
			Files: map[string]string{"my.cnf": "[mariadbd]\n" + strings.Join(conf, "\n") + "\n"},
		})
		if err != nil {
			return err
		}
	}
	h.rec.Primary = pairNames[0]
	for _, p := range h.rec.Processes {
		if err := h.ready(ctx, p); err != nil {
			return err
		}
		if err := setUpMariaDB(ctx, h, p); err != nil {
			return err
		}
	}
	h.rec.URL = h.pairURL("mysql")
	return followMariaDB(ctx, h, h.rec.Processes[1], h.rec.Processes[0])
}

// followMariaDB has a server follow the primary from where its data end.
func followMariaDB(ctx context.Context, h *host, p, primary Process) error {
	err := allMariaDB(ctx, h, p,
		"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = "+portOf(primary)+", MASTER_USER = '"+sqlUser+"', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos",
		"START SLAVE")
	if err != nil {
		return err
	}
	return h.follows(ctx, p, func(ctx context.Context) error { return replicates(ctx, h, p, primary) })
}

// allMariaDB executes statements one after the other, as the server's administrator.
func allMariaDB(ctx context.Context, h *host, p Process, statements ...string) error {
	return onMariaDB(h, p, func(db *sql.DB) error {
		for _, q := range statements {
			if _, err := db.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	})
}

// slaveStatus returns what a replica says of its replication, by the names of the columns; empty
// on a server that is none.
func slaveStatus(ctx context.Context, db *sql.DB) (map[string]string, error) {
	rows, err := db.QueryContext(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // it was read
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if rows.Next() {
		texts := make([]sql.NullString, len(names))
		into := make([]any, len(names))
		for i := range texts {
			into[i] = &texts[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		for i, name := range names {
			out[name] = texts[i].String
		}
	}
	return out, rows.Err()
}

// replicates returns nil if a replica receives what its primary writes and, where that is to wait
// for it, does so.
func replicates(ctx context.Context, h *host, p, primary Process) error {
	err := onMariaDB(h, p, func(db *sql.DB) error {
		st, err := slaveStatus(ctx, db)
		switch {
		case err != nil:
			return err
		case st["Last_SQL_Error"] != "":
			return Permanent{Err: errors.New(st["Last_SQL_Error"])}
		case st["Slave_IO_Running"] != "Yes" || st["Slave_SQL_Running"] != "Yes":
			return fmt.Errorf("%s does not replicate yet: %s", p.Name, st["Last_IO_Error"])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return onMariaDB(h, primary, func(db *sql.DB) error {
		waits, clients, err := semiSynced(ctx, db)
		if err == nil && waits && clients == 0 {
			err = fmt.Errorf("the primary does not wait for %s yet", p.Name)
		}
		return err
	})
}

// semiSynced asks a primary whether it is to wait for replicas, and how many of those it has.
func semiSynced(ctx context.Context, db *sql.DB) (waits bool, clients int, err error) {
	var name string
	err = db.QueryRowContext(ctx, "SHOW STATUS LIKE 'Rpl_semi_sync_master_clients'").Scan(&name, &clients)
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT @@global."+semiSync).Scan(&waits)
	}
	return waits, clients, err
}

// promoteMariaDB makes a replica the primary once it has applied all that it received.
func promoteMariaDB(ctx context.Context, h *host, p *Process) error {
	err := onMariaDB(h, *p, func(db *sql.DB) error {
		if _, err := db.ExecContext(ctx, "STOP SLAVE IO_THREAD"); err != nil {
			return err
		}
		st, err := slaveStatus(ctx, db)
		if err != nil {
			return err
		}
		var late int // it waits as long as ctx
		if err := db.QueryRowContext(ctx, "SELECT MASTER_GTID_WAIT(?, ?)", st["Gtid_IO_Pos"], startLimit.Seconds()).Scan(&late); err != nil {
			return err
		}
		if late != 0 {
			return errors.New("it has not applied what it received")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := allMariaDB(ctx, h, *p, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF"); err != nil {
		return err
	}
	p.Command = slices.DeleteFunc(p.Command, func(arg string) bool { return slices.Contains(ofReplica, arg) })
	return nil
}

// rejoinMariaDB implements takeover.rejoin.
func rejoinMariaDB(ctx context.Context, h *host, p *Process, primary Process) error {
	_, err := os.Stat(filepath.Join(p.Dir, "data", "master.info"))
	if errors.Is(err, os.ErrNotExist) {
		err = copyMariaDB(ctx, h, p, primary)
	} else if err == nil {
		if err = h.relaunch(ctx, p); err == nil {
			err = h.follows(ctx, *p, func(ctx context.Context) error { return replicates(ctx, h, *p, primary) })
		}
	}
	if err != nil {
		return err
	}
	if semi := argOf(h.rec.Args, semiSync); semi != "" { // as configured again
		return allMariaDB(ctx, h, primary, "SET GLOBAL "+semiSync+" = "+cnfQuote(onOff(semi)))
	}
	return nil
}

// copyMariaDB starts a server with a copy of the primary's data, and has it follow the primary.
func copyMariaDB(ctx context.Context, h *host, p *Process, primary Process) error {
	me, err := user.Current()
	if err != nil {
		return err
	}
	h.step("copying the data of %s", primary.Name)
	if err := os.RemoveAll(filepath.Join(p.Dir, "data")); err != nil {
		return err
	}
	if err := mariadbTables(ctx, h, p.Dir, me.Username); err != nil {
		return err
	}
	for _, arg := range ofReplica {
		if !slices.Contains(p.Command, arg) {
			p.Command = append(p.Command, arg)
		}
	}
	if err := h.relaunch(ctx, p); err != nil {
		return err
	}
	if err := setUpMariaDB(ctx, h, *p); err != nil {
		return err
	}
	databases, err := ownDatabases(ctx, h, primary)
	if err != nil {
		return err
	}
	dump := filepath.Join(p.Dir, "copy.sql")
	login := []string{"--no-defaults", "--host=127.0.0.1", "--user=root"}
	err = h.once(ctx, p.Dir, "", "mariadb-dump", slices.Concat(login, []string{
		"--port=" + portOf(primary), "--single-transaction", "--gtid", "--master-data=1", "--result-file=" + dump, "--databases",
	}, databases)...)
	if err != nil {
		return err
	}
	err = h.once(ctx, p.Dir, "", "mariadb", append(login, "--port="+portOf(*p), "--init-command=SET SESSION sql_log_bin=0", "--execute=source "+dump)...)
	if err != nil {
		return err
	}
	if err := os.Remove(dump); err != nil {
		return err
	}
	return followMariaDB(ctx, h, *p, primary)
}

// ownDatabases returns those that are not the server's.
func ownDatabases(ctx context.Context, h *host, p Process) (names []string, err error) {
	err = onMariaDB(h, p, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // it was read
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// argOf returns the value of a server argument, which may be written with - for _; "" if there is none.
func argOf(args []string, name string) (value string) {
	for i, a := range args {
		if strings.HasPrefix(a, "--") && strings.EqualFold(strings.ReplaceAll(a[2:], "-", "_"), name) && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// onOff writes a switch as SET takes it.
func onOff(s string) string {
	if on := strings.ToUpper(s); on == "1" || on == "ON" || on == "TRUE" {
		return "ON"
	}
	return "OFF"
}

// lookMariaDB implements Service.look.
func lookMariaDB(ctx context.Context, h *host) error {
	var errs []error
	waits := false
	for i := range h.rec.Processes {
		p := &h.rec.Processes[i]
		if !IsAlive(*p) || Stopped(*p) {
			continue
		}
		if p.Name == h.rec.Primary {
			p.Role = Primary
			errs = append(errs, onMariaDB(h, *p, func(db *sql.DB) (err error) {
				waits, _, err = semiSynced(ctx, db)
				return err
			}))
			continue
		}
		p.Role = Replica
		errs = append(errs, onMariaDB(h, *p, func(db *sql.DB) error {
			st, err := slaveStatus(ctx, db)
			if err == nil {
				p.Behind = lagOf(st)
			}
			return err
		}))
	}
	for _, p := range h.rec.replicas() {
		if p.Behind != "" && waits {
			p.Behind += ", semi-synchronous"
		} else if p.Behind != "" {
			p.Behind += ", asynchronous"
		}
	}
	return errors.Join(errs...)
}

// lagOf says how far behind a replica is, by what it says of its replication.
func lagOf(status map[string]string) string {
	switch behind := status["Seconds_Behind_Master"]; {
	case behind == "":
		return ""
	case behind != "0":
		d, err := time.ParseDuration(behind + "s")
		if err != nil {
			return ""
		}
		return d.String()
	}
	return upToDate
}
