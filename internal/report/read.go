package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxReport bounds a report that is read: 20 targets with all their stacks make
// a few MB.
const maxReport = 64 << 20

// Read reads the JSON form, as untrusted input: a report may be a file that
// somebody stored. What it says is taken as it is, but for figures that no
// report can have.
func Read(r io.Reader) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxReport {
		return nil, fmt.Errorf("it is larger than the %d MB that are read", maxReport>>20)
	}
	var version struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, fmt.Errorf("it is no report in JSON: %w", err)
	}
	if version.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q; this scaleprof reads %s", clip(cleanText(version.Schema), 60), Schema)
	}
	out := new(Report)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("it is no report in JSON: %w", err)
	}
	return cleaned(out), out.valid()
}

// valid refuses figures that would make nonsense of every comparison.
func (r *Report) valid() error {
	if len(r.Series) == 0 {
		return errors.New("it has no series")
	}
	for _, s := range r.Series {
		for _, p := range s.Points {
			if p.Threads < 1 || p.WallNS < 0 || p.Ops < 0 {
				return fmt.Errorf("series %q has a point with T=%d, wall %d ns and %d operations", clip(cleanText(s.Target), 60), p.Threads, p.WallNS, p.Ops)
			}
			for _, iv := range []Interval{p.SpeedupCI, p.EfficiencyCI, p.CeilingCI} {
				if !ordered(iv) {
					return fmt.Errorf("series %q has an interval that ends before it begins at T=%d", clip(cleanText(s.Target), 60), p.Threads)
				}
			}
		}
	}
	for _, c := range r.Comparisons {
		if c.Base < 1 || c.Peak <= c.Base {
			return fmt.Errorf("%q is compared from T=%d to T=%d", clip(cleanText(c.Target), 60), c.Base, c.Peak)
		}
		all := []Interval{c.CoresLostCI, c.EfficiencyCI}
		for _, row := range c.Rows {
			all = append(all, row.CoresLostCI)
		}
		for _, g := range c.Groups {
			all = append(all, g.CoresLostCI)
		}
		for _, iv := range all {
			if !ordered(iv) {
				return fmt.Errorf("the comparison of %q has an interval that ends before it begins", clip(cleanText(c.Target), 60))
			}
		}
	}
	return nil
}

func ordered(iv Interval) bool {
	return iv == nil || iv[0] <= iv[1] && !math.IsInf(iv[0], 0) && !math.IsInf(iv[1], 0)
}
