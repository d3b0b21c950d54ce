package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, for work that takes longer than a second.
type progress struct {
	text  string
	to    io.Writer // nil: no bar
	start time.Time
	last  time.Time
	bar   *progressbar.ProgressBar
}

const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// newProgress returns a bar that shows on to if that is a terminal.
func newProgress(to *os.File, text string, quiet bool) *progress {
	p := &progress{text: text, start: time.Now()}
	if !quiet && term.IsTerminal(int(to.Fd())) {
		p.to = to
	}
	return p
}

// set says that done of total bytes are done.
func (p *progress) set(done, total int64) {
	if p.to == nil {
		return
	}
	now := time.Now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.to), progressbar.OptionSetDescription(p.text),
			progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	// A bar that can't be drawn is no reason to fail.
	_ = p.bar.Set64(done)
}

// clear removes the bar.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
