package remote

import (
	"crypto/rand"
	"crypto/subtle"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Who may do what at a coordinator's own NATS. Nobody but the coordinator commands, reads what
// workers send, or touches what is kept of it: it alone has a password, which never leaves its
// process. A worker says what workers say, in its own name, and hears what is said to it. Who
// watches asks, and hears answers. A role is told by the name of a connection, and goes with
// the token: that for watchers lets nobody work.
//
// A worker's name is an id that it makes of chance, and tells nobody but the coordinator. As
// all of its subjects have it, nobody else can speak for it or listen to it.

const (
	roleWorker = "worker"
	roleWatch  = "watch"
	// roleCoordinator is the user's name that the coordinator has in its own NATS.
	roleCoordinator = "coordinator"
)

// ownServer is how the name of a coordinator's own NATS begins, where these roles are.
const ownServer = "perfbench."

// answersTo is how subjects begin on which the coordinator hears answers in its own NATS: no
// place where anybody can have others answer.
const answersTo = "_PERFBENCH."

// newID is a name that nobody guesses.
func newID() string { return rand.Text() }

// as are the options of a connection in a role, by the name of that id.
func as(role, id string) []nats.Option {
	return []nats.Option{nats.Name(role + " " + id), nats.CustomInboxPrefix(inboxes + id)}
}

// guard gives each connection the permissions of its role.
type guard struct {
	on subjects
	// token is what workers must bring, and watch what lets watchers in, too; empty: nothing.
	// secret is the coordinator's own.
	token, watch, secret string
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// Check is called for each connection; false: it is none that is let in.
func (g *guard) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	role, id, _ := strings.Cut(o.Name, " ")
	works := g.token == "" || same(o.Token, g.token)
	switch {
	case o.Username != "":
		if !same(o.Username, roleCoordinator) || !same(o.Password, g.secret) {
			return false
		}
		c.RegisterUser(&server.User{Username: roleCoordinator})
		return true
	case !works && (g.watch == "" || !same(o.Token, g.watch)):
		return false
	case !isID(id) || len(id) < shortest:
		id, role = newID(), roleWatch // it hears nothing
	}
	says := []string{subjectRuns, g.on.members, g.on.watch}
	hears := []string{inboxes + id + ".>"}
	if role == roleWorker && works {
		mine := "." + id + ".*"
		says = []string{subjectRuns, g.on.join + "." + id, g.on.ready + mine, g.on.beat + mine, g.on.ended + mine, g.on.figures + mine, g.on.parted}
		hears = append(hears, g.on.worker+"."+id+".>")
	}
	c.RegisterUser(&server.User{Username: id, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: says}, Subscribe: &server.SubjectPermission{Allow: hears},
		Response: &server.ResponsePermission{MaxMsgs: 1, Expires: 2 * time.Minute}, // to what they are asked
	}})
	return true
}

// answer answers a message, wherever that is not a place on which something is commanded: who
// asks says where the answer goes, and it goes there with the rights of the coordinator.
func answer(m *nats.Msg, data []byte) {
	if isInbox(m.Reply) {
		_ = m.Respond(data)
	}
}

// mine is the subject on which the worker says something: it ends with its id and its number.
func (w *Worker) mine(what string) string {
	return what + "." + w.id + "." + strconv.Itoa(w.Place.Index)
}
