package unseen

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
	"github.com/scaleprof/scaleprof/internal/workload"
)

// echo sends a message over a loopback connection and waits for it to come
// back; one server goroutine answers each connection.
func echo(p workload.Params) (body, func() error, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("listening on the loopback: %w", err)
	}
	var servers sync.WaitGroup
	servers.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return // closed
			}
			servers.Go(func() {
				defer c.Close()
				io.Copy(writerOnly{c}, c)
			})
		}
	})
	conns := make([]net.Conn, p.Workers)
	var fault sync.Map
	end := func() error {
		errs := []error{listener.Close()}
		for _, c := range conns {
			if c != nil {
				errs = append(errs, c.Close())
			}
		}
		servers.Wait()
		fault.Range(func(_, err any) bool { errs = append(errs, err.(error)); return true })
		return errors.Join(errs...)
	}
	for w := range conns {
		if conns[w], err = net.Dial("tcp", listener.Addr().String()); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("dialling the loopback: %w", err), end())
		}
	}
	work := func(w int, lo, hi int64) workload.Tally {
		var t workload.Tally
		message := make([]byte, 512)
		for i := lo; i < hi; i++ {
			_, err := conns[w].Write(message)
			if err == nil {
				_, err = io.ReadFull(conns[w], message)
			}
			if err != nil {
				fault.Store(w, err)
				return t
			}
			t.Sum += grind(uint64(i), 100)
			t.Ops++
		}
		return t
	}
	return work, end, nil
}

// writerOnly hides ReadFrom, so that io.Copy copies in Go.
type writerOnly struct{ io.Writer }

// limiter waits for a shared allowance by sleeping, like a rate limit that was
// set for one worker and never raised.
func limiter(int) body {
	var mu sync.Mutex
	var free time.Time
	return each(func(_ int, i int64) uint64 {
		v := grind(uint64(i), 30_000)
		mu.Lock()
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		wait := free.Sub(now)
		free = free.Add(40 * time.Microsecond)
		mu.Unlock()
		if wait > 0 {
			time.Sleep(wait)
		}
		return v
	})
}

// appends writes short records to the end of one file, opened once for each
// worker: the kernel orders the appends.
func appends(p workload.Params) (body, func() error, error) {
	dir := os.TempDir()
	if stat, err := os.Stat("/dev/shm"); err == nil && stat.IsDir() {
		dir = "/dev/shm"
	}
	first, err := os.CreateTemp(dir, "scaleprof-unseen-*")
	if err != nil {
		return nil, nil, fmt.Errorf("making a file to append to: %w", err)
	}
	files := []*os.File{first}
	var fault sync.Map
	end := func() error {
		var errs []error
		for _, f := range files {
			errs = append(errs, f.Close())
		}
		errs = append(errs, os.Remove(first.Name()))
		fault.Range(func(_, err any) bool { errs = append(errs, err.(error)); return true })
		return errors.Join(errs...)
	}
	for range p.Workers {
		f, err := os.OpenFile(first.Name(), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("opening the file to append to: %w", err), end())
		}
		files = append(files, f)
	}
	record := make([]byte, 8<<10)
	work := func(w int, lo, hi int64) workload.Tally {
		var t workload.Tally
		for i := lo; i < hi; i++ {
			if _, err := files[w+1].Write(record); err != nil {
				fault.Store(w, err)
				return t
			}
			if i%256 == 255 { // keeps the file short
				if err := first.Truncate(0); err != nil {
					fault.Store(w, err)
					return t
				}
			}
			t.Sum += grind(uint64(i), 50)
			t.Ops++
		}
		return t
	}
	return work, end, nil
}

func systems() []program {
	return []program{
		{workload.Info{Name: "tcp-echo", Title: "loopback round trips", Expect: "io/network|io/syscall|sched", OpNS: 15_000}, echo},
		{workload.Info{Name: "rate-limit", Title: "a shared allowance waited for with time.Sleep", Expect: string(cause.IOSleep), OpNS: 40_000}, plain(limiter)},
		{workload.Info{Name: "file-append", Title: "appends to one file", Expect: string(cause.IOSyscall), OpNS: 3_000}, appends},
	}
}
