package capture

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseThreads(t *testing.T) {
	for _, test := range []struct {
		list string
		cpus int
		want []int
		err  string
	}{
		{list: DefaultThreads, cpus: 16, want: []int{1, 4, 8, 12, 15, 16}},
		{list: DefaultThreads, cpus: 2, want: []int{1, 2}},
		{list: DefaultThreads, cpus: 1, want: []int{1}},
		{list: DefaultThreads, cpus: 6, want: []int{1, 3, 4, 5, 6}},
		{list: "8,16", cpus: 2, want: []int{8, 16}},
		{list: "16, 8 ,8", cpus: 2, want: []int{8, 16}},
		{list: "FULL,full-3", cpus: 8, want: []int{5, 8}},
		{list: "full-9", cpus: 2, want: []int{1}},
		{list: "3/2", cpus: 8, want: []int{12}},
		{list: "0", cpus: 8, err: "threads: 0 is too few: T must be at least 1"},
		{list: "-2", cpus: 8, err: "threads: -2 is too few"},
		{list: "0/4", cpus: 8, err: "not a positive fraction"},
		{list: "1/0", cpus: 8, err: "not a positive fraction"},
		{list: "two", cpus: 8, err: `threads: "two" is not a number`},
		{list: "1.5", cpus: 8, err: "is not a number"},
		{list: "full+1", cpus: 8, err: "is not a number"},
		{list: "fuller", cpus: 8, err: "is not a number"},
		{list: "5000", cpus: 8, err: "more than 4096"},
		{list: "4096/1", cpus: 8, err: "more than 4096"},
		{list: " , ", cpus: 8, err: "is empty"},
		{list: "", cpus: 8, err: "is empty"},
	} {
		got, err := ParseThreads(test.list, test.cpus)
		switch {
		case test.err == "" && (err != nil || !slices.Equal(got, test.want)):
			t.Errorf("%q on %d CPUs: %v, %v; want %v", test.list, test.cpus, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%q: error %v, want %q", test.list, err, test.err)
		}
	}
}

func TestParseThreadsIsSorted(t *testing.T) {
	word := rapid.SampledFrom([]string{"1", "2", "7", "full", "full-1", "full-2", "1/2", "3/4", "2/3", "5/4"})
	rapid.Check(t, func(t *rapid.T) {
		list := strings.Join(rapid.SliceOfN(word, 1, 8).Draw(t, "words"), ",")
		got, err := ParseThreads(list, rapid.IntRange(1, 256).Draw(t, "cpus"))
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range got {
			if n < 1 || i > 0 && n <= got[i-1] {
				t.Fatalf("%q gives %v", list, got)
			}
		}
	})
}

func FuzzParseThreads(f *testing.F) {
	f.Add(DefaultThreads, 16)
	f.Add("8,16,full-99999999999999999999", 1)
	f.Fuzz(func(t *testing.T, list string, cpus int) {
		got, err := ParseThreads(list, cpus)
		if err == nil && (len(got) == 0 || got[0] < 1 || !slices.IsSorted(got)) {
			t.Errorf("%q on %d CPUs gives %v", list, cpus, got)
		}
	})
}

// Profiled runs come to their number whatever the number of blocks, never
// decrease, and an early kind has one in the first block.
func TestDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, blocks := rapid.IntRange(0, 5).Draw(t, "want"), rapid.IntRange(1, 12).Draw(t, "blocks")
		early := rapid.Bool().Draw(t, "early")
		last := 0
		for b := range blocks {
			n := due(want, b, blocks, early)
			if n < last || n > want {
				t.Fatalf("due(%d, %d, %d, %v) = %d after %d", want, b, blocks, early, n, last)
			}
			last = n
		}
		if last != want {
			t.Fatalf("%d of %d after all %d blocks", last, want, blocks)
		}
		if early && want > 0 && due(want, 0, blocks, true) == 0 {
			t.Fatal("an early kind is not in the first block")
		}
	})
}

func TestOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Output
		var all []byte
		for range rapid.IntRange(0, 6).Draw(t, "writes") {
			p := []byte(strings.Repeat(string(rune('a'+len(all)%26)), rapid.IntRange(0, 40_000).Draw(t, "n")))
			if n, err := o.Write(p); n != len(p) || err != nil {
				t.Fatalf("wrote %d of %d, %v", n, len(p), err)
			}
			all = append(all, p...)
		}
		got := o.Bytes()
		if len(all) <= 2*outputKeep {
			if string(got) != string(all) {
				t.Fatalf("%d bytes became %d", len(all), len(got))
			}
			return
		}
		head, tail := all[:outputKeep], all[len(all)-outputKeep:]
		if !strings.HasPrefix(string(got), string(head)) || !strings.HasSuffix(string(got), string(tail)) {
			t.Fatal("the beginning or the end is lost")
		}
	})
}
