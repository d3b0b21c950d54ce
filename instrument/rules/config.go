package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
)

// Config is a configuration file: YAML with the keys that the command line has as flags. What is not set is zero.
type Config struct {
	Probe       List   `yaml:"probe"`
	Include     List   `yaml:"include"`
	Exclude     List   `yaml:"exclude"`
	Clock       string `yaml:"clock"`
	Exits       string `yaml:"exits"`
	IDSalt      string `yaml:"id-salt"`
	Huge        bool   `yaml:"huge"`
	SkipTrivial bool   `yaml:"skip-trivial"`
	Compression string `yaml:"compression"`
	Mapping     string `yaml:"mapping"`
	Report      string `yaml:"report"`
	Verify      *bool  `yaml:"verify"` // on where it is not set
	Runtime     bool   `yaml:"runtime"`
	Jobs        int    `yaml:"jobs"`
}

// A List is a list of strings in YAML, or one string for a list of one.
type List []string

// UnmarshalYAML sets the list.
func (l *List) UnmarshalYAML(unmarshal func(any) error) error {
	var one string
	if unmarshal(&one) == nil {
		*l = List{one}
		return nil
	}
	return unmarshal((*[]string)(l))
}

// LoadConfig reads a configuration file. Its errors name the file, the line and the column.
func LoadConfig(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return c, nil
}

// parseConfig parses a configuration file. Its errors start with the line.
func parseConfig(text []byte) (*Config, error) {
	var c Config
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c)
	if err == nil || errors.Is(err, io.EOF) { // EOF: an empty file
		return &c, nil
	}
	if unknown, ok := errors.AsType[*yaml.UnknownFieldError](err); ok {
		at := unknown.Token.Position
		return nil, fmt.Errorf("%d:%d: unknown key %q; did you mean %s?", at.Line, at.Column, unknown.Token.Value, closestKey(unknown.Token.Value))
	}
	if mistyped, ok := errors.AsType[*yaml.TypeError](err); ok {
		at := mistyped.Token.Position
		return nil, fmt.Errorf("%d:%d: %q is not %s", at.Line, at.Column, mistyped.Token.Value, kindName(mistyped.DstType))
	}
	if located, ok := errors.AsType[yaml.Error](err); ok && located.GetToken() != nil {
		at := located.GetToken().Position
		problem := located.GetMessage()
		if strings.HasPrefix(located.GetToken().Value, "*") {
			problem += "; patterns that start with * need quotes in YAML"
		}
		return nil, fmt.Errorf("%d:%d: %s", at.Line, at.Column, problem)
	}
	return nil, fmt.Errorf(" %w", err)
}

// kindName says what a type is called in YAML.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a number"
	case reflect.String:
		return "a text"
	}
	return "a list"
}

// closestKey returns the key that is most like name.
func closestKey(name string) string {
	var keys []string
	for f := range reflect.TypeFor[Config]().Fields() {
		keys = append(keys, f.Tag.Get("yaml"))
	}
	return closest(name, keys)
}
