package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, for work that takes longer than a second.
type progress struct {
	text  string
	bytes bool       // what is counted are bytes
	to    io.Writer  // nil: no bar
	mu    sync.Mutex // of what follows: several workers say how far they are
	start time.Time
	last  time.Time
	bar   *progressbar.ProgressBar
}

const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// newProgress returns a bar that shows on to if that is a terminal.
func newProgress(to io.Writer, text string, bytes bool) *progress {
	p := &progress{text: text, bytes: bytes, start: time.Now()}
	if f, ok := to.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.to = to
	}
	return p
}

// set says that done of total are done. Nobody waits for a bar that is just being drawn.
func (p *progress) set(done, total int64) {
	if p.to == nil || !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.start) < progressAfter || now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.to), progressbar.OptionSetDescription(p.text),
			progressbar.OptionShowBytes(p.bytes), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish())
	}
	// A bar that can't be drawn is no reason to fail.
	_ = p.bar.Set64(done)
}

// clear removes the bar, when all workers are done.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
