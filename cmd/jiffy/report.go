package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/jiffyperf/jiffy/csvexport"
	csvreport "github.com/jiffyperf/jiffy/csvexport/report"
)

func newReportCommand() *cobra.Command {
	var o csvreport.Options
	var top int
	cmd := &cobra.Command{
		Use:   "report RUN",
		Short: "Make CSV tables of a run",
		Long: `Make CSV tables of a run: methods, threads, the process, and on request every single call. RUN is the directory that
jiffy collect made, or any directory of event logs. Prints the methods with the most self time and the threads with the most CPU.

The probe maps come from the run, or from the class path that its processes had; --mapping overrides both.`,
		Example: `  jiffy report run
  jiffy report run -o csv --window 10s --calls --format csv,demeter`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Run = args[0]
			o.Version = programVersion()
			if err := checkReport(o, top); err != nil {
				return usageError(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
			}
			return runReport(cmd.Context(), o, top, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Out, "output", "o", "", "directory of the tables (default RUN/report)")
	f.StringSliceVar(&o.Formats, "format", []string{csvreport.CSV}, "comma-separated `FORMATS`: csv, demeter")
	f.DurationVar(&o.Window, "window", 0, "cut the threads' table into windows of this `TIME` (default the whole run)")
	f.BoolVar(&o.Calls, "calls", false, "write calls.csv, one row per call")
	f.StringArrayVar(&o.Maps, "mapping", nil, "take the probe map `FILE` instead of those of the run; may be repeated")
	f.IntVar(&top, "top", 10, "print this many methods and threads")
	return cmd
}

func checkReport(o csvreport.Options, top int) error {
	switch {
	case top < 0:
		return fmt.Errorf("--top %d: want 0 or more", top)
	case o.Window < 0:
		return fmt.Errorf("--window %s: want more than 0", o.Window)
	case o.Window > 0 && o.Window < time.Millisecond:
		return fmt.Errorf("--window %s: want 1ms or more", o.Window)
	}
	return csvreport.CheckFormats(o.Formats)
}

func runReport(ctx context.Context, o csvreport.Options, top int, out, messages io.Writer) error {
	bar := newProgress(messages, "reading events", false)
	o.Progress = bar.set
	r, err := csvreport.Make(ctx, o)
	bar.clear()
	if err != nil {
		return oneLine(err)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(messages, "jiffy: warning:", warning)
	}
	if top > 0 {
		printMethods(out, r.Methods, top)
		printThreads(out, r.Threads, top)
	}
	fmt.Fprintf(out, "%s: %s\n", filepath.Clean(r.Out), strings.Join(r.Files, " "))
	return nil
}

// oneLine keeps errors that were joined on one line.
func oneLine(err error) error {
	if !strings.Contains(err.Error(), "\n") {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}

func newTable(title string) table.Writer {
	t := table.NewWriter()
	t.SetTitle(title)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Title.Align = text.AlignLeft
	return t
}

func printMethods(out io.Writer, methods []csvexport.Method, top int) {
	if len(methods) == 0 {
		return
	}
	var self int64
	for _, m := range methods {
		self += m.Self
	}
	shown := methods[:min(top, len(methods))]
	t := newTable(fmt.Sprintf("Methods by self time (%d of %d)", len(shown), len(methods)))
	several := slices.ContainsFunc(methods, func(m csvexport.Method) bool { return m.Process != methods[0].Process })
	t.AppendHeader(withPID(several, "pid", table.Row{"self", "%", "total", "calls", "thrown", "mean", "p95", "cpu est.", "method"}))
	for _, m := range shown {
		t.AppendRow(withPID(several, m.Process, table.Row{
			duration(csvexport.IntOf(m.Self)), percent(m.Self, self), duration(csvexport.IntOf(m.Total)), m.Calls, m.Thrown,
			duration(m.Mean), duration(m.P95), duration(m.CPU), m.Class + "#" + m.Method,
		}))
	}
	alignRight(t, 8)
	printTable(out, t)
}

func printThreads(out io.Writer, threads []csvexport.Thread, top int) {
	sums := sumWindows(threads)
	if len(sums) == 0 {
		return
	}
	var cpu int64
	for _, s := range sums {
		cpu += s.CPU.Value
	}
	shown := sums[:min(top, len(sums))]
	t := newTable(fmt.Sprintf("Threads by CPU time (%d of %d)", len(shown), len(sums)))
	several := slices.ContainsFunc(sums, func(s csvexport.Thread) bool { return s.Process != sums[0].Process })
	t.AppendHeader(withPID(several, "pid", table.Row{"cpu", "%", "waiting", "tid", "status", "thread", "top method"}))
	for _, s := range shown {
		id := ""
		if s.TID.Known {
			id = fmt.Sprint(s.TID.Value)
		}
		t.AppendRow(withPID(several, s.Process,
			table.Row{duration(s.CPU), percent(s.CPU.Value, cpu), duration(s.Wait), id, s.Status, printable(s.Thread), s.Top}))
	}
	alignRight(t, 4)
	printTable(out, t)
}

// sumWindows adds up the windows of each thread, most CPU first. Status and top
// method are those of the thread's last window and of its busiest.
func sumWindows(threads []csvexport.Thread) []csvexport.Thread {
	type key struct {
		process, tid int64
		thread       string
	}
	sums := map[key]*csvexport.Thread{}
	busiest := map[key]int64{}
	var order []key
	for _, t := range threads {
		k := key{t.Process, t.TID.Value, t.Thread}
		sum := sums[k]
		if sum == nil {
			sum = &csvexport.Thread{TID: t.TID, Thread: t.Thread, Process: t.Process, Top: t.Top}
			sums[k] = sum
			order = append(order, k)
		}
		sum.Status = t.Status
		if t.CPU.Known {
			sum.CPU = csvexport.IntOf(sum.CPU.Value + t.CPU.Value)
		}
		if t.Wait.Known {
			sum.Wait = csvexport.IntOf(sum.Wait.Value + t.Wait.Value)
		}
		if t.CPU.Value > busiest[k] {
			busiest[k], sum.Top = t.CPU.Value, t.Top
		}
	}
	rows := make([]csvexport.Thread, len(order))
	for i, k := range order {
		rows[i] = *sums[k]
	}
	slices.SortStableFunc(rows, func(a, b csvexport.Thread) int { return cmp.Compare(b.CPU.Value, a.CPU.Value) })
	return rows
}

func alignRight(t table.Writer, columns int) {
	var configs []table.ColumnConfig
	for i := range columns {
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
}

// withPID puts the process in front of the last column, if there are several.
func withPID(several bool, pid any, row table.Row) table.Row {
	if !several {
		return row
	}
	return slices.Insert(row, len(row)-1, pid)
}

// printTable prints a table and an empty line, without the blanks that pad the
// last column.
func printTable(out io.Writer, t table.Writer) {
	for line := range strings.Lines(t.Render() + "\n") {
		fmt.Fprintln(out, strings.TrimRight(line, " \n"))
	}
	fmt.Fprintln(out)
}

// duration prints ns for people, with three digits.
func duration(n csvexport.Int) string {
	if !n.Known {
		return ""
	}
	units := []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}
	v := float64(n.Value)
	for _, u := range units {
		if v >= u.ns || -v >= u.ns {
			digits := 2
			for scaled := max(v, -v) / u.ns; digits > 0 && scaled >= 10; scaled /= 10 {
				digits--
			}
			return fmt.Sprintf("%.*f %s", digits, v/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%d ns", n.Value)
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", 100*float64(part)/float64(whole))
}

// printable keeps control characters in a thread's name from the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
