package capture

import (
	"context"
	"sync"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/host/kernel"
	"github.com/scaleprof/scaleprof/internal/record"
)

// realMachine is the machine that the process runs on.
type realMachine struct {
	reader  func() *host.SystemReader
	kernels *kernel.Session // calibrated when first used; totals stay the same for a session
}

func newRealMachine() *realMachine {
	return &realMachine{reader: sync.OnceValue(func() *host.SystemReader { return host.NewSystemReader("/") })}
}

func (*realMachine) Info() host.Info {
	info, _ := host.Read("/")
	return info
}

func (*realMachine) FreeMemory() int64 { return host.FreeMemory() }

func (m *realMachine) Read() host.SystemCounters { return m.reader().Read() }

func (*realMachine) CPU(pid int) (int64, bool) { return host.ProcessCPU(pid) }

func (*realMachine) SelfCPU() (int64, bool) { return host.SelfCPU() }

func (*realMachine) Bounce() (float64, bool) { return kernel.Bounce() }

func (m *realMachine) Kernels(ctx context.Context, threads int) ([]record.KernelRun, error) {
	if m.kernels == nil {
		info, _ := host.Read("/")
		k, err := kernel.Calibrate(ctx, info, kernel.Config{})
		if err != nil {
			return nil, err
		}
		m.kernels = k
	}
	return m.kernels.All(ctx, threads, 0)
}

// Close gives back the memory of the kernels.
func (m *realMachine) Close() {
	if m.kernels != nil {
		m.kernels.Close()
		m.kernels = nil
	}
}
