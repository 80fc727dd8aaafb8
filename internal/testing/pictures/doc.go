// Package pictures holds no code, only the tests that draw the pictures of measurement.md: from
// runs, in virtual time, and from what judges runs. Nothing imports it.
package pictures
