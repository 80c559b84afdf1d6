package main

import (
	"path"
	"path/filepath"

	"github.com/scaleprof/scaleprof/internal/annotate"
	"github.com/scaleprof/scaleprof/internal/export"
	"github.com/scaleprof/scaleprof/internal/record"
	"github.com/scaleprof/scaleprof/internal/report"
)

// attachLoss gives each comparison the loss profile that explain has written, for
// forms that draw it. What is not there, or cannot be read, is not drawn.
func attachLoss(r *report.Report, dir string) {
	written := map[string]bool{}
	for _, f := range r.Files {
		written[f.Path] = f.Kind == "loss"
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		name := annotate.LossName(annotate.Cell{Target: c.Target, Mode: c.Mode, Threads: c.Peak, Arm: c.Arm}, c.Base)
		if !written[path.Join(record.OutDir, name)] {
			continue
		}
		p, err := readProfileFile(filepath.Join(dir, record.OutDir, name))
		if err != nil {
			continue
		}
		if loss, err := export.Loss(p); err == nil {
			c.Loss = loss
		}
	}
}
