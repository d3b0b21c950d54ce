//go:build !unix

package collect

import "os"

// lock does nothing where there is no flock(2); collecting needs Linux anyway.
func lock(*os.File) error { return nil }

func isLocked(error) bool { return false }
