package csvexport

// factDocs are the keys of run.csv with their meaning, in their order.
var factDocs = []struct{ key, unit, doc string }{
	{"schema_version", "", "Version of these tables. It changes when a column is renamed, removed, or means something else."},
	{"jiffy_version", "", "Version of the collector; without one, of the report."},
	{"command", "", "Command line, quoted for a shell; without a collector the main class as the JVM gives it."},
	{"pid", "", "Process id of the command; without a collector of the first process."},
	{"start", "", "When the run began, RFC 3339. All times in the tables count from here."},
	{"duration_ns", "ns", "Length of the run."},
	{"clock", "", "Clock of the events: nanoTime is CLOCK_MONOTONIC, elapsedRealtimeNanos and elapsedRealtime are CLOCK_BOOTTIME, the latter in whole ms. Several are separated by spaces."},
	{"hz", "1/s", "Kernel ticks (jiffies) per second, USER_HZ."},
	{"cpus", "count", "Logical CPUs: N in the percentages of the device."},
	{"host", "", "Host name."},
	{"kernel", "", "Kernel release."},
	{"probe_map_hash", "", "Hash of the probe map; several are separated by spaces."},
	{"events", "count", "Calls in this report, folded ones included."},
	{"events_dropped", "count", "Calls that the runtime had to drop, and counted."},
	{"calls_unmapped", "count", "Calls of methods that are in no probe map."},
	{"collector_cpu_ns", "ns", "CPU time that the collector used."},
	{"collector_samples_missed", "count", "Samples that were due and not taken."},
	{"start_mono_ns", "ns", "The run's start on CLOCK_MONOTONIC."},
	{"exact_from_ns", "ns", "From here on, since the run's start …"},
	{"exact_until_ns", "ns", "… to here every call is an event of its own. A process that was attached to has recorded since before the run: the figure is negative then, as are the times of those calls. Later calls are folded into aggregates per thread and method: they are in methods.csv, not in calls.csv."},
	{"exact_reason", "", "Why the exact window ends: end (of the run), quota (of the disk) or memory."},
	{"calls_folded", "count", "Calls that were folded."},
	{"methods_self_approximate", "count", "Methods of which some folded calls have a self time that is not exact."},
	{"methods_synchronized", "count", "Methods declared synchronized: they wait for their lock before their time begins."},
	{"calls_discarded_own", "count", "Calls of the runtime's own threads, which are not recorded."},
	{"calls_overlapping", "count", "Calls that overlap another of their thread without one being inside the other. 0, unless clocks disagree."},
	{"records_bad", "count", "Records of the logs that could not be and were left out."},
	{"log_torn_bytes", "bytes", "Bytes of the event logs that could not be read."},
	{"log_chunks_missing", "count", "Chunks that the logs' numbering says are missing."},
	{"processes", "count", "Processes with a log or with samples."},
	{"killed", "", "yes if a process wrote no end into its log: it was killed, or still ran."},
	{"killed_pids", "", "Those processes."},
	{"killed_note", "", "What may be missing then."},
	{"probe_pair_ns", "ns", "What one probe costs a call in all, measured in the first process."},
	{"probe_inner_ns", "ns", "The part of it inside the measured duration."},
	{"exits", "", "all, or normal: calls that ended with an exception were not recorded. Empty if the probe map doesn't say."},
	{"runtime_cpu_ns", "ns", "CPU time of the runtime's writer threads. It is part of the process's own."},
	{"interval_ns", "ns", "Nominal interval between samples."},
	{"samples", "count", "Scans that the collector made."},
	{"collector_complete", "", "true if the collector came to its end."},
	{"exit_code", "", "Exit code of the command."},
	{"exit_signal", "", "Signal that ended it."},
	{"rusage_cpu_ns", "ns", "CPU time of the command by wait4(2), with that of its children that it waited for."},
	{"window_ns", "ns", "Length of the windows in threads.csv; 0: the whole run is one."},
}

// FactKeys are the keys of run.csv in their order.
func FactKeys() []string {
	keys := make([]string, len(factDocs))
	for i, f := range factDocs {
		keys[i] = f.key
	}
	return keys
}
