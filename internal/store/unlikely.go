package store

import (
	"crypto/rand"
	"strings"
)

// Unlikely draws a name of 26 letters and digits that nobody else has used.
func Unlikely() string { return strings.ToLower(rand.Text()) }
