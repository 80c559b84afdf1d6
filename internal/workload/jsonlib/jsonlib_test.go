package jsonlib

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
	"pgregory.net/rapid"

	"github.com/scaleprof/scaleprof/internal/workload"
)

func prepare(t testing.TB, w workload.Workload, workers int, values map[string]string) workload.Instance {
	t.Helper()
	if why := w.Info().Unavailable; why != "" {
		t.Skip(why)
	}
	in, err := w.Prepare(workload.Params{Workers: workers, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestSeedDocumentIsTheSeeds(t *testing.T) {
	m, ok := seedDocument().value.(map[string]any)
	if !ok || len(m) != 100 {
		t.Fatalf("not a map of 100 entries: %T of %d", seedDocument().value, len(m))
	}
	for i := range 100 {
		if v, ok := m[strconv.Itoa(i)].(int); !ok || v != i {
			t.Errorf("entry %d is %v", i, m[strconv.Itoa(i)])
		}
	}
	if _, ok := seedDocument().fresh().(*any); !ok {
		t.Error("the seed unmarshals into an empty interface")
	}
}

func TestGeneratedDocumentsAreAbout12kB(t *testing.T) {
	for _, doc := range []*document{twitterDocument(), numbersDocument()} {
		data, err := stdjson.Marshal(doc.value)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) < 11_000 || len(data) > 13_500 {
			t.Errorf("%s: %d bytes", doc.name, len(data))
		}
		again, _ := stdjson.Marshal(map[string]func() *document{"twitter": twitterDocument, "numbers": numbersDocument}[doc.name]().value)
		if !bytes.Equal(data, again) {
			t.Errorf("%s is not the same twice", doc.name)
		}
	}
	doc := numbersDocument()
	data, _ := stdjson.Marshal(doc.value)
	digits := 0
	for _, b := range data {
		if b >= '0' && b <= '9' {
			digits++
		}
	}
	if float64(digits) < 0.7*float64(len(data)) {
		t.Errorf("numbers: %d digits of %d bytes", digits, len(data))
	}
}

// The sum over all workers must not depend on how operations were shared out.
func TestChecksumDoesNotDependOnTheNumberOfWorkers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.json")
	big := `{"a":[` + strings.Repeat(`"some text",1.5e-7,null,`, 120) + `true],"b":{"c":"ü\u0000<&"},"d":123456789012345678901234567890}`
	if err := os.WriteFile(file, []byte(big), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, w := range All() {
		for _, values := range []map[string]string{nil, {"doc": "twitter"}, {"doc": "numbers"}, {"json": file}} {
			name := strings.TrimSuffix(w.Info().Name+"/"+values["doc"], "/")
			if values["json"] != "" {
				name += "/file"
			}
			t.Run(name, func(t *testing.T) {
				const ops = 30
				var first workload.Tally
				for _, workers := range []int{1, 3} {
					in := prepare(t, w, workers, values)
					sums := make(chan workload.Tally, workers)
					for k := range workers {
						go func() {
							in.Work(k, 0, 1) // warm-up
							sums <- in.Work(k, int64(k*ops/workers), int64((k+1)*ops/workers))
						}()
					}
					var total workload.Tally
					for range workers {
						tally := <-sums
						total.Ops += tally.Ops
						total.Sum += tally.Sum
					}
					if err := in.Close(); err != nil {
						t.Fatal(err)
					}
					if total.Ops != ops {
						t.Errorf("%d workers did %d operations of %d", workers, total.Ops, ops)
					}
					if workers == 1 {
						first = total
					}
					if total.Sum != first.Sum {
						t.Errorf("checksum %x with %d workers, %x with one", total.Sum, workers, first.Sum)
					}
				}
				if first.Sum == 0 {
					t.Error("the checksum is 0")
				}
			})
		}
	}
}

// A broken library must not pass: each fault below is in some operations only.
func TestWrongResultsAreNotCounted(t *testing.T) {
	for _, tt := range []struct {
		name   string
		break_ func(n int, data []byte, err error) ([]byte, error)
	}{
		{"error", func(n int, data []byte, err error) ([]byte, error) { return nil, errors.New("broken") }},
		{"shorter", func(n int, data []byte, err error) ([]byte, error) {
			return bytes.Replace(data, []byte(`"7":7`), []byte(`"7":`+strconv.Itoa(n%2)), 1)[:len(data)-1], nil
		}},
		{"one digit", func(n int, data []byte, err error) ([]byte, error) {
			return bytes.Replace(data, []byte(`"50":50`), []byte(`"50":51`), 1), nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			lib := library{name: "broken", unmarshal: stdjson.Unmarshal, marshal: func(v any) ([]byte, error) {
				data, err := stdjson.Marshal(v)
				if calls++; calls > 5 && calls%3 == 0 {
					return tt.break_(calls, data, err)
				}
				return data, err
			}}
			in := prepare(t, &jsonWorkload{lib: lib}, 1, nil)
			tally := in.Work(0, 0, 30)
			if tally.Ops != 20 && tally.Ops != 21 && tally.Ops != 22 {
				t.Errorf("%d operations of 30 counted", tally.Ops)
			}
			if err := in.Close(); err == nil || !strings.Contains(err.Error(), "json/broken") {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// A decoder that loses a value is found although it changes no byte.
func TestWrongDecodingIsNotCounted(t *testing.T) {
	calls := 0
	lib := library{name: "broken", marshal: stdjson.Marshal, unmarshal: func(data []byte, v any) error {
		err := stdjson.Unmarshal(data, v)
		if calls++; calls > 1 {
			(*v.(*any)).(map[string]any)["42"] = 43.0
		}
		return err
	}}
	in := prepare(t, &jsonWorkload{lib: lib}, 1, nil)
	if tally := in.Work(0, 0, 200); tally.Ops != 0 {
		t.Errorf("the first result is compared in full, yet %d operations count", tally.Ops)
	}
}

func TestLibraryThatChangesTheDataIsRefused(t *testing.T) {
	lib := library{
		name: "broken", unmarshal: stdjson.Unmarshal,
		marshal: func(any) ([]byte, error) { return []byte(`{"0":0}`), nil },
	}
	_, err := (&jsonWorkload{lib: lib}).Prepare(workload.Params{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "does not keep the seed document") {
		t.Errorf("Prepare: %v", err)
	}
}

func TestFallbackIsRefusedUnderItsOwnName(t *testing.T) {
	w := &jsonWorkload{lib: sonicLibrary(sonic.UseStdJSON)}
	if why := w.Info().Unavailable; !strings.Contains(why, "falls back to encoding/json") {
		t.Errorf("Unavailable: %q", why)
	}
	if _, err := w.Prepare(workload.Params{Workers: 1}); err == nil {
		t.Error("Prepare runs encoding/json under the name of sonic")
	}
	if err := workload.CheckParams(w, nil); err == nil {
		t.Error("CheckParams lets it pass")
	}
	if why := sonicLibrary(sonic.UseSonicJSON).unavailable; why != "" {
		t.Errorf("with its compiler: %q", why)
	}
}

func TestFileFaultsAreLocated(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"brace", "{\n  \"a\": 1,\n  \"ü\": }\n}", ":3:8: not a JSON text at byte offset 20: invalid character '}'"},
		{"end", `{"a": [1, 2`, ":1:12: not a JSON text at byte offset 11: unexpected end"},
		{"blank", " \n ", ":2:2: not a JSON text at byte offset 3: unexpected end"},
		{"trailing", "{} x", ":1:4: not a JSON text at byte offset 3: invalid character 'x' after top-level"},
		{"first", "hello", ":1:1: not a JSON text at byte offset 0: invalid character 'h'"},
		{"huge", `[1, 1e999]`, "cannot unmarshal number 1e999"},
		{"empty", "", "is empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f.json")
			if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			err := workload.CheckParams(All()[1], map[string]string{"json": path})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want …%s", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Error("more than one line")
			}
		})
	}
}

func TestParameters(t *testing.T) {
	std := All()[1]
	for _, tt := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"doc": "twiter"}, "did you mean twitter"},
		{map[string]string{"doc": "yaml"}, "there are seed, twitter and numbers"},
		{map[string]string{"doc": "seed", "json": "x"}, "one of them is enough"},
		{map[string]string{"json": "/does/not/exist"}, "no such file"},
		{map[string]string{"json": t.TempDir()}, "reading the JSON document"},
		{map[string]string{"file": "x"}, `no parameter "file"; it takes doc, json`},
	} {
		if err := workload.CheckParams(std, tt.values); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want …%s…", tt.values, err, tt.want)
		}
	}
}

// Any JSON text that encoding/json reads can be run and verified.
func TestOwnDocuments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.json")
	leaf := rapid.OneOf(
		rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	)
	inner := rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(leaf, 0, 5), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.String(), leaf, 0, 5), func(m map[string]any) any { return m }))
	value := rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(inner, 0, 9), func(s []any) any { return s }),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 9), func(m map[string]any) any { return m }))
	rapid.Check(t, func(t *rapid.T) {
		data, err := stdjson.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		w := rapid.SampledFrom(All()).Draw(t, "library")
		if w.Info().Unavailable != "" {
			return
		}
		in, err := w.Prepare(workload.Params{Workers: 2, Values: map[string]string{"json": file}})
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		whole, a, b := in.Work(0, 0, 9), in.Work(0, 0, 4), in.Work(1, 4, 9)
		if err := in.Close(); err != nil || whole.Ops != 9 || whole.Sum != a.Sum+b.Sum {
			t.Fatalf("%s: %v, %v of %v and %v", data, err, whole, a, b)
		}
	})
}

func TestVerifyAllocatesNothing(t *testing.T) {
	for _, doc := range []string{"seed", "twitter", "numbers"} {
		in := prepare(t, All()[1], 1, map[string]string{"doc": doc}).(*instance)
		i := int64(0)
		if n := testing.AllocsPerRun(100, func() {
			i++
			if _, ok := in.verify(in.data, in.decoded, i, false); !ok {
				t.Fatal("a right result is refused")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", doc, n)
		}
	}
}

func BenchmarkOperation(b *testing.B) {
	for _, w := range All() {
		for _, doc := range documentNames() {
			b.Run(strings.TrimPrefix(w.Info().Name, "json/")+"/doc="+doc, func(b *testing.B) {
				in := prepare(b, w, 1, map[string]string{"doc": doc})
				in.Work(0, 0, 1)
				b.ReportAllocs()
				b.ResetTimer()
				in.Work(0, 0, int64(b.N))
			})
		}
	}
}

// BenchmarkVerify is the part of BenchmarkOperation that is ours.
func BenchmarkVerify(b *testing.B) {
	for _, doc := range documentNames() {
		b.Run("doc="+doc, func(b *testing.B) {
			in := prepare(b, All()[1], 1, map[string]string{"doc": doc}).(*instance)
			i := int64(0)
			for b.Loop() {
				i++
				in.verify(in.data, in.decoded, i, false)
			}
		})
	}
}
