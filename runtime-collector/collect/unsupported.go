//go:build !linux

package collect

import (
	"errors"
	"runtime"
)

// Run says that there is nothing to sample here.
func Run(opts Options) (status int, err error) {
	return 0, &Error{StatusFailed, errors.New("collect needs Linux or Android: " + runtime.GOOS + " has no procfs")}
}
