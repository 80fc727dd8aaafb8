package fault

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNearest(t *testing.T) {
	names := []string{"ingestion", "group", "tx", "authz", "event-store"}
	assert.Equal(t, "ingestion", Nearest("injestion", names))
	assert.Equal(t, "event-store", Nearest("eventstore", names))
	assert.Empty(t, Nearest("zzz", names))
	assert.Empty(t, Nearest("mongodb", []string{"mariadb", "redis", "mysql"}), "another store is no typo")
	assert.Equal(t, "mariadb", Nearest("maria", []string{"mariadb", "redis", "mysql"}))
}

func TestHint(t *testing.T) {
	assert.Equal(t, "did you mean group?", Suggest("gruop", []string{"tx", "group"}))
	assert.Equal(t, "did you mean group? perfbench list shows all", Suggest("gruop", []string{"tx", "group"}, "perfbench list shows all"))
	assert.Equal(t, "did you mean put or puts?", Suggest("putt", []string{"puts", "get", "put"}))
	assert.Equal(t, "did you mean puta, putb or putc?", Suggest("put", []string{"putd", "putc", "putb", "puta"}))
	assert.Equal(t, "one of: a, b", Suggest("zzz", []string{"a", "b"}))
	assert.Empty(t, Meant("zzz", []string{"a", "b"}), "the error names them")
	assert.Equal(t, "did you mean group?", Meant("gruop", []string{"tx", "group"}))
	assert.Equal(t, "one of: a, b", Suggest("zzz", []string{"a", "b"}, "perfbench list shows all"))
	formats := []string{"json", "markdown", "html", "padogrid"}
	assert.Equal(t, "did you mean markdown? see", Suggest("md", formats, "see"))
	assert.Equal(t, "did you mean padogrid? see", Suggest("pg", formats, "see"), "letters in order, the first one first")
	assert.Equal(t, "one of: json, markdown, html, padogrid", Suggest("nd", formats, "see"))
	assert.Equal(t, "one of: json, markdown, html, padogrid", Suggest("m", formats, "see"), "one letter is short for nothing")
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("name%02d", i))
	}
	assert.Equal(t, "perfbench list shows all", Suggest("zzz", many, "perfbench list shows all"))
	assert.Contains(t, Suggest("zzz", many), "one of: name00, ")
}
