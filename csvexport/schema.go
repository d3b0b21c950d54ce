// Package csvexport is the schema of jiffy's CSV reports: one struct per file,
// its fields the columns in their order. The tags say what a column means;
// docs/csv.md is made from them.
//
// Files are RFC 4180 with a header, in UTF-8, lines end with a line feed. A value
// that isn't known is an empty cell, never 0.
package csvexport

// SchemaVersion changes whenever a column is renamed, removed, or means
// something else. New columns are added at the end and don't change it.
const SchemaVersion = 1

// Names of the files.
const (
	RunFile        = "run.csv"
	MethodsFile    = "methods.csv"
	ThreadsFile    = "threads.csv"
	ProcessFile    = "process.csv"
	CallsFile      = "calls.csv"
	OpenCallsFile  = "open_calls.csv"
	CapabilityFile = "capabilities.csv"
)

// Fact is a row of run.csv.
type Fact struct {
	Key   string `csv:"key" doc:"What the row is about; the keys are listed below."`
	Value string `csv:"value" doc:"Its value, empty where it isn't known."`
}

// Method is a row of methods.csv: one method in one process. Rows are in order of
// self_ns, largest first.
type Method struct {
	Class      string `csv:"class" doc:"Binary name with dots, as com.acme.Oven$Door. unmapped where the id is in no probe map, ambiguous where two methods share it."`
	Method     string `csv:"method" doc:"Name; the probe id in hexadecimal where unmapped."`
	Descriptor string `csv:"descriptor" doc:"Parameter and return types (JVMS §4.3.3), as (I)V."`
	File       string `csv:"file" doc:"Source file, as the class file names it."`
	Line       Int    `csv:"line" doc:"First line of the method's code."`

	Calls     int64 `csv:"calls" unit:"count" value:"exact" doc:"Calls that completed: returned or thrown."`
	Entries   int64 `csv:"entries" unit:"count" value:"exact" doc:"calls + suspended. A Kotlin suspend function is entered again after each suspension."`
	Thrown    int64 `csv:"thrown" unit:"count" value:"exact" doc:"Calls that ended with an exception leaving the method. Always 0 in code instrumented with --exits normal, which doesn't record them."`
	Suspended int64 `csv:"suspended" unit:"count" value:"exact" doc:"Entries that ended by suspending the coroutine."`

	Total     int64 `csv:"total_ns" unit:"ns" value:"exact" doc:"Wall time inside the method and what it calls, over all entries. Recursion counts once, for the outermost call."`
	Self      int64 `csv:"self_ns" unit:"ns" value:"exact" doc:"Wall time inside the method without the instrumented methods it called directly. It includes the cost of the probes. For folded calls it can be approximate where a thread had very many unfinished siblings; run.csv counts such methods."`
	SelfNet   Int   `csv:"self_net_ns" unit:"ns" value:"estimated" doc:"self_ns − probe_cost_ns, but not below 0; what was cut off is self_ns − probe_cost_ns where that is negative."`
	ProbeCost Int   `csv:"probe_cost_ns" unit:"ns" value:"estimated" doc:"What the probes added to self_ns: entries × the part of a probe inside the measured time, plus direct instrumented children × the part outside of it. The cost is measured in the process, at export if it got there, else at start."`
	Mean      Int   `csv:"mean_ns" unit:"ns" value:"exact" doc:"Mean duration of calls. Recursive calls each count with their own duration, so mean × calls can exceed total_ns. For folded calls the middles of histogram buckets stand in, an error of at most 6.25 %."`
	P50       Int   `csv:"p50_ns" unit:"ns" value:"estimated" doc:"Median duration of calls: the shortest that at least half of the calls did not exceed. By a DDSketch with 1 % relative error; for folded calls at most 12.5 %."`
	P95       Int   `csv:"p95_ns" unit:"ns" value:"estimated" doc:"95th percentile, likewise."`
	P99       Int   `csv:"p99_ns" unit:"ns" value:"estimated" doc:"99th percentile, likewise."`
	Max       Int   `csv:"max_ns" unit:"ns" value:"exact" doc:"Longest call."`

	MainCalls int64 `csv:"main_thread_calls" unit:"count" value:"exact" doc:"Calls on the main thread: tid = pid on Android, the thread named main on a JVM."`
	MainTotal int64 `csv:"main_thread_total_ns" unit:"ns" value:"exact" doc:"total_ns on the main thread."`
	CPU       Int   `csv:"cpu_est_ns" unit:"ns" value:"estimated" doc:"CPU time. Between two samples of a thread, each method gets the share of the thread's CPU that its self time has of the interval; what no instrumented method covers gets the rest, so the shares sum to 1. A method that waits is given too much, one that computes next to it too little. Empty if the method never ran between two samples of its thread."`
	Warning   int64 `csv:"warning_level" unit:"ms" value:"exact" doc:"0, 16, 50, 150 or 700: the highest of these that its slowest call on the main thread reached."`
	Process   int64 `csv:"process" doc:"Process id."`
}

// Thread is a row of threads.csv: one thread in one window, and one row per
// process and window for the residual.
type Thread struct {
	WindowStart int64  `csv:"window_start_ns" unit:"ns" value:"exact" doc:"Start of the window, since the run's start on CLOCK_MONOTONIC."`
	WindowEnd   int64  `csv:"window_end_ns" unit:"ns" value:"exact" doc:"End of the window, likewise. The last one ends with the run."`
	TID         Int    `csv:"tid" doc:"Kernel thread id. Empty in the residual row and where it isn't known. A thread of the log whose tid the log doesn't know is joined with the samples by its name, if only one thread on either side has it and their times agree."`
	Thread      string `csv:"thread" doc:"Java name where the log has it, else comm (proc_pid_stat(5)), of which the kernel keeps 15 bytes. residual: CPU time of the process that no thread's samples hold, because threads exited or lived between two samples. A few ticks below 0 are possible: the kernel cuts a process's ticks off."`
	Status      string `csv:"status" doc:"exited: gone at a sample in the window. new: began in the window. idle: there, and used no CPU. running: the rest. The first that fits. Empty without samples."`
	State       string `csv:"state" doc:"State letter of the window's last sample, as in proc_pid_stat(5)."`
	CPU         Int    `csv:"cpu_ns" unit:"ns" value:"exact" doc:"CPU time in the window, from schedstat; from ticks where that can't be read, and in the residual row. At a boundary between two samples it is interpolated between these two, which is an estimate."`
	Wait        Int    `csv:"wait_ns" unit:"ns" value:"exact" doc:"Time the thread was ready and waited for a CPU (schedstat). Interpolated likewise."`
	Slices      Int    `csv:"slices" unit:"count" value:"exact" doc:"Time slices it ran (schedstat). Interpolated likewise."`
	UTime       Float  `csv:"utime_jiffies" unit:"jiffies" value:"exact" doc:"User time as the kernel counts it, in ticks of 1/HZ s. Interpolated likewise, hence decimals."`
	STime       Float  `csv:"stime_jiffies" unit:"jiffies" value:"exact" doc:"Kernel time, likewise."`
	PerMinute   Float  `csv:"jiffies_per_min" unit:"jiffies/min" value:"exact" doc:"cpu_ns in jiffies (ns · HZ / 10⁹), divided by the minutes of the window that samples cover. One busy core is 60 · HZ."`
	OneCore     Float  `csv:"cpu_one_core_pct" unit:"%" value:"exact" doc:"cpu_ns in percent of the same time: 100 is one busy core."`
	Top         string `csv:"top_method" value:"estimated" doc:"class#method with the largest share of the thread's CPU in the window, by the estimate of cpu_est_ns; by self time where the CPU isn't known."`
	TopShare    Float  `csv:"top_method_share_pct" unit:"%" value:"estimated" doc:"That share, of the thread's CPU in the window. Empty where the CPU isn't known or is 0."`
	Process     int64  `csv:"process" doc:"Process id."`
}

// Process is a row of process.csv: one sample of one process.
type Process struct {
	Time      int64  `csv:"time_ns" unit:"ns" value:"exact" doc:"When the sample was read, since the run's start on CLOCK_MONOTONIC."`
	CPU       Float  `csv:"cpu_s" unit:"s" value:"exact" doc:"CPU time since the process began: (utime + stime) / HZ. It includes threads that have exited, and no child processes."`
	Lived     Float  `csv:"proc_s" unit:"s" value:"exact" doc:"Time the process has existed: CLOCK_BOOTTIME − starttime / HZ, suspends included."`
	Avg       Float  `csv:"avg_pct" unit:"%" value:"exact" doc:"100 · cpu_s / proc_s / N, with N the number of CPUs."`
	Rel       Float  `csv:"rel_pct" unit:"%" value:"exact" doc:"100 · Δcpu_s / Δt / N since the sample before, Δt from the clock at the readings. Never clamped."`
	OneCore   Float  `csv:"cpu_one_core_pct" unit:"%" value:"exact" doc:"100 · Δcpu_s / Δt: 0 … 100 · N."`
	Device    Float  `csv:"cpu_device_pct" unit:"%" value:"exact" doc:"The same as rel_pct, 0 … 100, by the name that threads.csv's column goes with."`
	UTime     int64  `csv:"utime_jiffies" unit:"jiffies" value:"exact" doc:"User time since the process began (proc_pid_stat(5), field 14)."`
	STime     int64  `csv:"stime_jiffies" unit:"jiffies" value:"exact" doc:"Kernel time (field 15)."`
	CUTime    int64  `csv:"cutime_jiffies" unit:"jiffies" value:"exact" doc:"User time of children that were waited for (field 16). It jumps when a child is reaped, and is in no other column."`
	CSTime    int64  `csv:"cstime_jiffies" unit:"jiffies" value:"exact" doc:"Their kernel time (field 17)."`
	Threads   Int    `csv:"threads" unit:"count" value:"exact" doc:"Number of threads (field 20)."`
	RSS       Int    `csv:"rss_pages" unit:"pages" value:"exact" doc:"Resident memory (field 24). The kernel updates it in batches, so it can be off by some pages."`
	MinorFlt  Int    `csv:"minflt" unit:"count" value:"exact" doc:"Page faults without I/O since the process began (field 10)."`
	MajorFlt  Int    `csv:"majflt" unit:"count" value:"exact" doc:"Page faults with I/O (field 12)."`
	State     string `csv:"state" doc:"State letter (field 3); Z in the last sample of a process that ended."`
	Suspended Int    `csv:"suspended_ns" unit:"ns" value:"exact" doc:"Time since the sample before that the system was suspended: ΔCLOCK_BOOTTIME − ΔCLOCK_MONOTONIC. The clocks are read one after the other, so microseconds are noise."`
	Flagged   int64  `csv:"flagged" doc:"1 where cpu_one_core_pct exceeds 100 · N by more than two ticks: a figure that can't be."`
	Process   int64  `csv:"process" doc:"Process id."`
}

// Call is a row of calls.csv: one call. Rows are in order of start_ns; a call
// comes before those inside it.
type Call struct {
	Start      int64  `csv:"start_ns" unit:"ns" value:"exact" doc:"Start of the call, since the run's start on CLOCK_MONOTONIC."`
	End        int64  `csv:"end_ns" unit:"ns" value:"exact" doc:"Its end, likewise."`
	Depth      int64  `csv:"depth" unit:"count" value:"exact" doc:"Number of instrumented calls around it on its thread; 0 is outermost."`
	TID        Int    `csv:"tid" doc:"Kernel thread id; empty for virtual threads and where it isn't known."`
	Thread     string `csv:"thread" doc:"Name of the thread; virtual-<Java thread id> for virtual threads."`
	Class      string `csv:"class" doc:"As in methods.csv."`
	Method     string `csv:"method" doc:"As in methods.csv."`
	Descriptor string `csv:"descriptor" doc:"As in methods.csv."`
	Outcome    string `csv:"outcome" doc:"returned, thrown or suspended."`
	Process    int64  `csv:"process" doc:"Process id."`
}

// OpenCall is a row of open_calls.csv: one frame of a stack that was open when
// the log was exported. Frames of methods that are not instrumented are there
// too.
type OpenCall struct {
	Taken   int64  `csv:"taken_ns" unit:"ns" value:"exact" doc:"When the stack was taken, since the run's start on CLOCK_MONOTONIC."`
	TID     Int    `csv:"tid" doc:"Kernel thread id; empty where it isn't known."`
	Thread  string `csv:"thread" doc:"Name of the thread; java-<Java thread id> where the log doesn't have it."`
	State   string `csv:"state" doc:"Its Thread.State."`
	Frame   int64  `csv:"frame_depth" unit:"count" value:"exact" doc:"0 is the innermost frame."`
	Class   string `csv:"class" doc:"Binary name with dots."`
	Method  string `csv:"method" doc:"Name."`
	Line    Int    `csv:"line" doc:"Line in the source file; empty where it isn't known."`
	Process int64  `csv:"process" doc:"Process id."`
}

// Capability is a row of capabilities.csv: one kernel file the collector tried.
type Capability struct {
	File     string `csv:"file" doc:"Path of the file."`
	Readable string `csv:"readable" doc:"Whether it could be read."`
	Note     string `csv:"note" doc:"Why not, or what it was used for."`
}
