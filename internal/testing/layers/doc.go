// Package layers holds no code, only the test that keeps the arrows between our
// packages pointing down. Nothing imports it.
package layers
