package fault

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// tooMany is how every system and driver words that a process, or the machine, has
// as many files and connections open as it may. Some drivers keep the words only.
const tooMany = "too many open files"

// LimitHint says what to do about err when it comes of a limit of this process or
// machine, whatever else was made of it on its way; "" when it does not. files is how
// many files the process may have open, 0 when unknown.
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

// ErrFiles says that there was no file to be had when something failed that does not
// say why.
var ErrFiles = errors.New(tooMany)

// someFiles is how many files a driver that fails for want of them may need at once.
const someFiles = 4

// OutOfFiles says whether this process cannot open a few files now. It is for those
// who get no better word from what has just failed.
func OutOfFiles() bool { return FewerFiles(someFiles) }

// FewerFiles says whether this process cannot open so many files now.
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
