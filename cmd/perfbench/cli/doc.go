// Package cli is what all commands share: a call with its surroundings (streams, clock,
// folders, environment), the flags of runs, of their workers and of who watches them, the
// lists of profiles, stores and formats that it knows, text for people and programs on the
// console, help, the refusal of unknown arguments with the nearest right one, and the
// version.
package cli
