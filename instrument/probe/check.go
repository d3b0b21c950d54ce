package probe

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
	"github.com/jiffyperf/jiffy/instrument/verify"
)

// verify checks a rewritten Code attribute. One that fails is a defect of ours, unless the original fails as well; either
// way the original stays.
func (in *Instrumenter) verify(m *classfile.Member, rewritten []byte) error {
	original := in.class.Bytes(m.Code)
	err := in.refused(m, rewritten)
	if err == nil && bytes.IndexByte(in.body.Code, code.OpMonitorenter) >= 0 && in.unlocked(m, rewritten) > in.unlocked(m, original) {
		err = errors.New("locks are no longer structured")
	}
	if err == nil {
		return nil
	}
	if before := in.refused(m, original); before != nil {
		return fmt.Errorf("%w: %w", errUnverified, before)
	}
	return fmt.Errorf("%w: %w", errDefect, err)
}

// refused is what the type checker says. What it can't check, code of old versions without frames, it doesn't refuse.
func (in *Instrumenter) refused(m *classfile.Member, attribute []byte) error {
	err := in.verifier.Method(&in.class, m, attribute)
	if found := (*verify.Error)(nil); errors.As(err, &found) && found.Kind == verify.Unchecked {
		return nil
	}
	return err
}

// unlocked counts the places where a lock may stay held (JVMS §2.11.10).
func (in *Instrumenter) unlocked(m *classfile.Member, attribute []byte) int {
	in.findings = in.verifier.Findings(in.findings[:0], &in.class, m, attribute)
	n := 0
	for _, f := range in.findings {
		if f.Kind == verify.Locking {
			n++
		}
	}
	return n
}

// detail is what a reason leaves open: where in the code, and what the verifier said.
func detail(err error) string {
	if errors.Is(err, errDefect) || errors.Is(err, errUnverified) {
		return err.Error()
	}
	if at := (*code.PCError)(nil); errors.As(err, &at) {
		return at.Error()
	}
	return ""
}
