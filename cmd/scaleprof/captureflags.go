package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/scaleprof/scaleprof/internal/record"
)

// usageError gives a wrong flag its exit code, without the whole help.
func usageError(_ context.Context, _ *cli.Command, err error, _ bool) error {
	return &codedError{code: exitUsage, err: err, hint: "scaleprof capture --help shows the flags"}
}

// duration reads a flag that is a time, 0 when it is not set.
func duration(cmd *cli.Command, name string) (time.Duration, error) {
	text := cmd.String(name)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s: want a time such as 60s, not %q", name, text)
	}
	return d, nil
}

// modes reads --mode; capture refuses what is no mode.
func modes(list string) []record.Mode {
	var all []record.Mode
	for _, w := range words(list) {
		if w == "both" {
			all = append(all, record.Thread, record.Process)
			continue
		}
		all = append(all, record.Mode(w))
	}
	return all
}

func words(list string) []string {
	var all []string
	for w := range strings.SplitSeq(list, ",") {
		if w = strings.TrimSpace(w); w != "" {
			all = append(all, w)
		}
	}
	return all
}

// positive reads a flag that is a whole number above 0, 0 when it is not set.
func positive(cmd *cli.Command, name string) (int64, error) {
	text := cmd.String(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: want a whole number of at least 1, not %q", name, text)
	}
	return n, nil
}

// fraction reads "2%" or "0.02".
func fraction(name, text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%s: want a percentage such as 2%%, not %q", name, text)
	}
	return v, nil
}
