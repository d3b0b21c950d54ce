package probe

import (
	"errors"

	"github.com/jiffyperf/jiffy/instrument/classfile"
	"github.com/jiffyperf/jiffy/instrument/code"
)

// Reason says why a method that matches the rules is left byte-identical.
type Reason string

// The reasons, in words for reports.
const (
	ReasonAbstract   Reason = "abstract"
	ReasonNative     Reason = "native"
	ReasonForwards   Reason = "only forwards to another method"
	ReasonTrivial    Reason = "trivial"
	ReasonTwice      Reason = "already instrumented"
	ReasonHuge       Reason = "would cross 8,000 bytes"
	ReasonTooLarge   Reason = "would cross 65,535 bytes"
	ReasonPoolFull   Reason = "constant pool full"
	ReasonSubroutine Reason = "jsr/ret subroutine"
	ReasonNoFrames   Reason = "branches without a StackMapTable"
	ReasonBranch     Reason = "a branch would outgrow 16 bits"
	ReasonFrame      Reason = "unknown StackMapTable frame"
	ReasonUnverified Reason = "does not verify as it is"
	ReasonDefect     Reason = "the rewritten code does not verify: a defect of jiffy"
	ReasonMalformed  Reason = "malformed code"
)

var (
	errAbstract   = errors.New("abstract")
	errNative     = errors.New("native")
	errForwards   = errors.New("forwards")
	errTrivial    = errors.New("trivial")
	errUnverified = errors.New("the original does not verify")
	errDefect     = errors.New("the rewritten code does not verify")
	errHuge       = errors.New("huge")
)

var reasons = []struct {
	err    error
	reason Reason
}{
	{errAbstract, ReasonAbstract},
	{errNative, ReasonNative},
	{errForwards, ReasonForwards},
	{errTrivial, ReasonTrivial},
	{errHuge, ReasonHuge},
	{errUnverified, ReasonUnverified},
	{errDefect, ReasonDefect},
	{code.ErrTooLarge, ReasonTooLarge},
	{code.ErrPoolFull, ReasonPoolFull},
	{code.ErrSubroutine, ReasonSubroutine},
	{code.ErrNoFrames, ReasonNoFrames},
	{code.ErrBranch, ReasonBranch},
	{code.ErrFrame, ReasonFrame},
}

func reasonOf(err error) Reason {
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return r.reason
		}
	}
	return ReasonMalformed
}

// withoutCode says why a method has no Code attribute (JVMS §4.7.3).
func withoutCode(m *classfile.Member) error {
	switch {
	case m.Access&classfile.AccAbstract != 0:
		return errAbstract
	case m.Access&classfile.AccNative != 0:
		return errNative
	}
	return &code.PCError{What: "no Code attribute", Err: code.ErrMalformed}
}
