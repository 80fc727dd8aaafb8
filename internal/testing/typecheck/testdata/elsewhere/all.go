// Package elsewhere compiles on Linux, and not on Windows.
package elsewhere

// Name is a word that each system has.
var Name = word()
