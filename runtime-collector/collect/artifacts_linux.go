package collect

import (
	"path/filepath"

	"github.com/jiffyperf/jiffy/instrument/mapping"
	"github.com/jiffyperf/jiffy/runtime-collector/eventlog"
)

// copyMapsAtStart copies the probe maps that the user named or, from the jars
// as they are now, those that the command line shows.
func (j *job) copyMapsAtStart() {
	sources := j.maps
	if len(j.opts.Mappings) == 0 {
		sources = j.findMaps(j.java.classPaths, j.java.modulePaths, j.workDir)
	}
	j.addMaps(sources)
}

// copyMapsAtEnd copies the probe maps on the class paths that the event logs
// name, and says what the run lacks.
func (j *job) copyMapsAtEnd() {
	logs := eventLogs(j.dir.file(logDir))
	if len(j.opts.Mappings) == 0 {
		for _, log := range logs {
			header, err := logHeader(log)
			if err != nil {
				j.opts.message("%v", err)
				continue
			}
			j.addMaps(j.findMaps([]string{header["java_class_path"]}, []string{header["java_module_path"]}, header["user_dir"]))
		}
	}
	maps, _ := filepath.Glob(filepath.Join(escapeGlob(j.dir.file(mapDir)), "probes-*.csv"))
	switch {
	case j.facts.attached && j.java.logDir == "": // said already
	case len(logs) == 0:
		j.opts.message("no event log was written: is the program instrumented, with jiffy's runtime on its class path?")
	case len(maps) == 0:
		j.opts.message("no probe map was found on the class path: give one with --mapping, or to jiffy report")
	}
}

func (j *job) findMaps(classPaths, modulePaths []string, dir string) []mapping.Source {
	var sources []mapping.Source
	add := func(found []mapping.Source, err error) {
		if err != nil {
			j.opts.message("looking for probe maps: %v", err)
		}
		sources = append(sources, found...)
	}
	for _, path := range classPaths {
		if path != "" {
			add(mapping.FindInClassPath(path, dir))
		}
	}
	for _, path := range modulePaths {
		if path != "" {
			add(mapping.FindInModulePath(path, dir))
		}
	}
	return sources
}

func (j *job) addMaps(sources []mapping.Source) {
	if err := addMaps(j.dir.file(mapDir), sources); err != nil {
		j.opts.message("%v", err)
	}
}

// copyForeignLogs copies the event logs that the program wrote elsewhere,
// because it was told to (-Djiffy.log wins over JIFFY_LOG) or was already
// running.
func (j *job) copyForeignLogs() {
	from, to := j.java.logDir, j.dir.file(logDir)
	if from == "" || from == to {
		return
	}
	if !filepath.IsAbs(from) {
		from = filepath.Join(j.workDir, from)
	}
	copied, err := copyLogs(from, to, j.isOurs)
	if err != nil {
		j.opts.message("%v", err)
	}
	if copied > 0 {
		j.opts.message("%s copied from %s", plural(copied, "event log file", "event log files"), from)
	}
}

// isOurs reports whether a log is of a process that was sampled. A log may not
// know its process's start time.
func (j *job) isOurs(name eventlog.FileName) bool {
	if name.StartTime != 0 {
		return j.sampler.seen[identity{name.PID, name.StartTime}]
	}
	for id := range j.sampler.seen {
		if id.pid == name.PID {
			return true
		}
	}
	return false
}
