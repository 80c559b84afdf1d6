package capture

import (
	"context"
	"fmt"
	"strings"

	"github.com/scaleprof/scaleprof/internal/arm"
)

// maybeChooseArms asks, once the pilot blocks are made, which arms test the top
// causes found so far. The choice is in the schedule from the next block on, so
// that a resumed capture does not choose again.
func (s *session) maybeChooseArms(ctx context.Context, block int) error {
	if !s.m.Plan.ArmsAuto || s.opts.ChooseArms == nil || block != min(pilotBlocks, s.plannedBlocks()) {
		return nil
	}
	s.show(true, "choosing arms for the top causes")
	names, err := s.opts.ChooseArms(ctx, s.store.Dir())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		// The measurements stand without experiments.
		s.warn("arms-auto", fmt.Sprintf("no arms were chosen: %v", err), nil)
		return nil
	}
	for _, name := range names {
		name, target, _ := strings.Cut(name, "@")
		arms, err := arm.ParseList(name)
		if err != nil {
			s.warn("arms-auto", err.Error(), nil)
			continue
		}
		for _, a := range arms {
			if err := s.addArm(a, target, true); err != nil {
				return err
			}
		}
	}
	s.index()
	return s.save()
}
