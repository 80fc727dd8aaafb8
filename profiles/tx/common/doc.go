// Package common is what the modes of tx share: how they read a count and a distribution,
// what a run has used, and transactions on an SQL store whose rollbacks are counted.
package common
