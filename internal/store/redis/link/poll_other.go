//go:build !unix

package link

// Here is nothing to poll with, so that no connection gets into a list.
const canPoll = false

type pollFd struct{}

func pollIn(int) pollFd { return pollFd{} }

func pollNow([]pollFd) bool { return true }
