package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jiffyperf/jiffy/instrument/dump"
)

// maxClass bounds what is read of one class: a length in a jar is not to be trusted.
const maxClass = 256 << 20

func newDumpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "dump CLASS…",
		Short: "Print class files as text",
		Long: `Print class files as text: one fact a line, constants by what they are, so that two classes can be compared with diff.
CLASS is a .class file, or one in a jar: app.jar!com/acme/Foo.class.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				data, err := readClass(name)
				if err != nil {
					return err
				}
				if err := dump.Write(cmd.OutOrStdout(), data); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		},
	}
}

// readClass reads a class file, or an entry of a jar named as jar!entry.
func readClass(name string) ([]byte, error) {
	jar, entry, inJar := strings.Cut(name, "!")
	if !inJar {
		return os.ReadFile(name)
	}
	z, err := zip.OpenReader(jar)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", jar, err)
	}
	defer z.Close()
	f, err := z.Open(strings.TrimPrefix(entry, "/"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", jar, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxClass))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}
