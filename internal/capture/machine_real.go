package capture

import (
	"context"
	"sync"

	"github.com/scaleprof/scaleprof/internal/host"
	"github.com/scaleprof/scaleprof/internal/record"
)

// realMachine is the machine that the process runs on.
type realMachine struct {
	reader func() *host.SystemReader
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

func (*realMachine) Bounce() (float64, bool) { return 0, false }

func (*realMachine) Kernels(ctx context.Context, threads int) ([]record.KernelRun, error) {
	return nil, nil
}
