package fault

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// tooMany is how every system and driver says that a process, or the machine, has
// reached its limit of open files and connections. Some drivers keep only the text.
const tooMany = "too many open files"

// LimitHint says what to do about err if it was caused by a limit of this process or
// machine, even if it has been wrapped or reworded; "" if it was not. files is how many
// files the process may have open, 0 if unknown.
func LimitHint(err error, files int64) string {
	if err == nil || !strings.Contains(err.Error(), tooMany) {
		return ""
	}
	if strings.Contains(err.Error(), tooMany+" in system") {
		return "this machine has as many files open as it may: close other programs, or raise fs.file-max"
	}
	may := "has as many files and connections open as it may"
	if files > 0 {
		may = fmt.Sprintf("may have %d files and connections open at once (ulimit -n)", files)
	}
	return "this process " + may + ", and needs more: raise the limit with  ulimit -n 4096,  or use fewer --threads"
}

// ErrFiles means that no file descriptor was available when something failed without
// giving a reason.
var ErrFiles = errors.New(tooMany)

// someFiles is how many files a driver that fails for lack of them may need at once.
const someFiles = 4

// OutOfFiles reports whether this process currently cannot open a few files. It is for
// callers whose failed operation gives no better reason.
func OutOfFiles() bool { return FewerFiles(someFiles) }

// FewerFiles reports whether this process currently cannot open that many files.
func FewerFiles(than int) bool {
	var held []*os.File
	defer func() {
		for _, f := range held {
			_ = f.Close()
		}
	}()
	for range than {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return strings.Contains(err.Error(), tooMany)
		}
		held = append(held, f)
	}
	return false
}
