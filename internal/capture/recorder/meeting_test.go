package recorder

import (
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Nobody passes before all have come, and the last one opens alone; whether
// there are enough CPUs or not.
func TestMeeting(t *testing.T) {
	c := newClock()
	for _, n := range []int{1, 2, 3, 8} {
		for _, offer := range []bool{true, n > runtime.GOMAXPROCS(0)} {
			for range 20 {
				m := newMeeting(n)
				var arrived, passed int32
				var wg sync.WaitGroup
				for i := 0; i < n; i++ {
					wg.Add(1)
					go func(i int) {
						defer wg.Done()
						atomic.AddInt32(&arrived, 1)
						m.join(i, c.now, offer, func() {
							if p := atomic.LoadInt32(&passed); p != 0 {
								t.Errorf("%d of %d passed before it opened", p, n)
							}
						})
						if a := atomic.LoadInt32(&arrived); int(a) != n {
							t.Errorf("passed with %d of %d there", a, n)
						}
						atomic.AddInt32(&passed, 1)
					}(i)
				}
				wg.Wait()
				if int(passed) != n {
					t.Fatalf("%d of %d passed", passed, n)
				}
			}
		}
	}
}

// A member that never answers holds the others up for patience, not for ever.
func TestMeetingLosesPatience(t *testing.T) {
	c := newClock()
	m := newMeeting(2)
	m.words[arrivedWord] = 1 // it came, and was put aside
	done := make(chan int64)
	go func() {
		begin := c.now()
		m.join(1, c.now, false, func() {})
		done <- c.now() - begin
	}()
	select {
	case took := <-done:
		if took < patience {
			t.Errorf("opened after %s without an answer", time.Duration(took))
		}
	case <-time.After(time.Minute):
		t.Fatal("still waiting")
	}
}

// A process that never comes does not hold up the others for ever.
func TestMeetingWithoutAMember(t *testing.T) {
	c := newClock()
	m := newMeeting(2)
	m.late = 2 * patience
	m.join(0, c.now, false, func() { t.Error("opened without the other") })
}

func TestSharedWords(t *testing.T) {
	name := filepath.Join(t.TempDir(), "barrier")
	a, err := shareWords(name, meetingWords(3))
	if err != nil {
		t.Skip(err)
	}
	b, err := shareWords(name, meetingWords(3))
	if err != nil {
		t.Fatal(err)
	}
	c := newClock()
	var wg sync.WaitGroup
	for i, words := range [][]uint32{a, b, a} {
		wg.Add(1)
		go func(i int, m *meeting) {
			defer wg.Done()
			m.join(i, c.now, true, func() {})
		}(i, &meeting{words: words, n: 3})
	}
	wg.Wait()
	if b[roundWord] != opened || a[arrivedWord] != 3 {
		t.Error("the words are not shared")
	}
}
