package lab

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// logging writes a line for every operation through one log.Logger to a file.
// The logger holds its lock across the write system call, so the workers stand
// in line for the file. In the twin each worker has a logger that writes into a
// buffer of its own, and the buffer goes to the same file when it is full.
type logging struct {
	file    *os.File
	loggers []*log.Logger
	own     []*padded[logBuffer] // the twin's
	fault   *firstFault
}

const (
	logSteps  = 1 * micro
	logBuffed = 64 << 10
)

// logBuffer collects lines and writes them in large pieces.
type logBuffer struct {
	bytes.Buffer
	to *os.File
}

func (b *logBuffer) Write(line []byte) (int, error) {
	n, _ := b.Buffer.Write(line)
	if b.Len() < logBuffed {
		return n, nil
	}
	return n, b.flush()
}

func (b *logBuffer) flush() error {
	_, err := b.WriteTo(b.to)
	return err
}

func (l *logging) Work(w int, lo, hi int64) workload.Tally {
	logger := l.loggers[w]
	var t workload.Tally
	for i := lo; i < hi; i++ {
		v := burn(uint64(i), logSteps)
		if err := logger.Output(1, fmt.Sprintf("operation %d gave %x", i, v)); err != nil {
			l.fault.note(err)
			return t
		}
		t.Sum += v
		t.Ops++
	}
	if l.own != nil {
		if err := l.own[w].value.flush(); err != nil {
			l.fault.note(err)
		}
	}
	return t
}

func newLogging(buffered bool) maker {
	return func(p workload.Params) (workload.Instance, error) {
		file, err := scratchFile()
		if err != nil {
			return nil, fmt.Errorf("making a file to log to: %w", err)
		}
		l := &logging{file: file, fault: &firstFault{}}
		shared := log.New(file, "lab ", log.LstdFlags|log.Lmicroseconds)
		for range p.Workers {
			if !buffered {
				l.loggers = append(l.loggers, shared)
				continue
			}
			b := &padded[logBuffer]{value: logBuffer{to: file}}
			l.own = append(l.own, b)
			l.loggers = append(l.loggers, log.New(&b.value, "lab ", shared.Flags()))
		}
		return l, nil
	}
}

func (l *logging) Close() error {
	return errors.Join(l.fault.error(), removeFile(l.file))
}

func logPairs() []pair {
	return []pair{
		{
			info: workload.Info{
				Name: "log-mutex", Title: "a line for every operation through one log.Logger",
				Expect: string(cause.LockMutex), OpNS: 3_000,
			},
			bad: newLogging(false), fixed: newLogging(true), cure: "a buffer for each worker before the file", cheap: 1_600,
		},
	}
}
