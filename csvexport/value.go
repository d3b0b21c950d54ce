package csvexport

import (
	"math"
	"strconv"
)

// Int is a number that may not be known. The zero Int isn't.
type Int struct {
	Value int64
	Known bool
}

// IntOf is a known number.
func IntOf(n int64) Int { return Int{Value: n, Known: true} }

// KnownInt is a number that is not known where it is below 0.
func KnownInt(n int64) Int { return Int{Value: n, Known: n >= 0}.normal() }

func (n Int) normal() Int {
	if !n.Known {
		return Int{}
	}
	return n
}

// MarshalCSV implements gocsv.TypeMarshaller.
func (n Int) MarshalCSV() (string, error) {
	if !n.Known {
		return "", nil
	}
	return strconv.FormatInt(n.Value, 10), nil
}

// UnmarshalCSV implements gocsv.TypeUnmarshaller.
func (n *Int) UnmarshalCSV(s string) error {
	*n = Int{}
	if s == "" {
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return err
	}
	*n = IntOf(v)
	return nil
}

// Float is a decimal that may not be known. The zero Float isn't.
type Float struct {
	Value float64
	Known bool
}

// FloatOf is a known decimal, rounded to 4 digits behind the point. What is no
// number isn't known.
func FloatOf(v float64) Float {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Float{}
	}
	const unit = 1e4 // keeps 4 digits
	if r := math.Round(v*unit) / unit; !math.IsInf(r, 0) {
		v = r
	}
	return Float{Value: v + 0, Known: true} // + 0 makes −0 a 0
}

// MarshalCSV implements gocsv.TypeMarshaller.
func (f Float) MarshalCSV() (string, error) {
	if !f.Known {
		return "", nil
	}
	return strconv.FormatFloat(f.Value, 'f', -1, 64), nil
}

// UnmarshalCSV implements gocsv.TypeUnmarshaller.
func (f *Float) UnmarshalCSV(s string) error {
	*f = Float{}
	if s == "" {
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return err
	}
	*f = Float{Value: v, Known: true}
	return nil
}
