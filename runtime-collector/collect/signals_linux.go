package collect

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that are passed on to the program.
var forwarded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
}

// ignoredAtStart are the signals that jiffy was started to ignore, as nohup(1)
// does. It is found out before anything in this process can catch them.
var ignoredAtStart = func() map[os.Signal]bool {
	ignored := make(map[os.Signal]bool)
	for _, sig := range forwarded {
		ignored[sig] = signal.Ignored(sig)
	}
	return ignored
}()

// catch delivers signals on a channel, but those that were ignored at the start:
// they stay ignored, and the program inherits that.
func catch(signals []os.Signal) (caught chan os.Signal, stop func()) {
	caught = make(chan os.Signal, 8)
	for _, sig := range signals {
		if ignoredAtStart[sig] {
			signal.Ignore(sig) // something else in this process may have caught it
		} else {
			signal.Notify(caught, sig)
		}
	}
	// A reader of our messages that goes away must not cost the program's
	// status: with a handler a write fails instead of killing. The channel is
	// never read.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	return caught, func() {
		signal.Stop(caught)
		signal.Stop(pipe)
	}
}

// fromTerminal reports whether sig came from the terminal's keyboard. Then the
// program has it already: the terminal signals the whole foreground process
// group, and a second interrupt means something else to many programs.
func fromTerminal(sig os.Signal) bool {
	if sig != syscall.SIGINT && sig != syscall.SIGQUIT {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	foreground, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
