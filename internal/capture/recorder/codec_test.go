package recorder

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawResult(t *rapid.T) *Result {
	finite := rapid.Float64().Filter(func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) })
	floats := rapid.MapOf(rapid.String(), finite)
	r := &Result{
		Process: rapid.Int().Draw(t, "process"), Go: rapid.String().Draw(t, "go"),
		BeginNS: rapid.Int64().Draw(t, "begin"), Checksum: rapid.Uint64().Draw(t, "sum"),
		Metrics: floats.Draw(t, "metrics"), Warnings: rapid.SliceOf(rapid.String()).Draw(t, "warnings"),
		Lanes: rapid.SliceOf(rapid.Custom(func(t *rapid.T) Lane {
			return Lane{StartNS: rapid.Int64().Draw(t, "start"), Checksum: rapid.Uint64().Draw(t, "sum")}
		})).Draw(t, "lanes"),
	}
	if rapid.Bool().Draw(t, "rich") {
		r.Usage = &Usage{UserNS: rapid.Int64().Draw(t, "user")}
		r.Hists = map[string]Hist{"h": {Count: 1, Sum: finite.Draw(t, "s"), Buckets: [][2]float64{{1, 2}, {3, 4.5}}}, "empty": {}}
		r.ClosingGC = &ClosingGC{Metrics: map[string]float64{}}
		r.Bench = &Bench{Failed: true, Output: "a\x00b\u2028<&>\xff"}
		r.Files = []File{{"cpu", "cpu.pb.gz"}}
	}
	return r
}

// What is encoded is what encoding/json reads, and the other way round.
func TestCodecAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &Message{Kind: "result", Result: drawResult(t)}
		ours, err := encode(nil, reflect.ValueOf(want))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var a, b, c Message
		if err := json.Unmarshal(theirs, &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(ours, &b); err != nil {
			t.Fatalf("%v in %s", err, ours)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("encode against encoding/json (-theirs +ours):\n%s", d)
		}
		if err := decode(theirs, &c); err != nil {
			t.Fatalf("%v in %s", err, theirs)
		}
		if d := cmp.Diff(a, c); d != "" {
			t.Errorf("decode against encoding/json (-theirs +ours):\n%s", d)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	for _, v := range []interface{}{math.NaN(), math.Inf(1), complex(1, 2), map[string]float64{"a": math.Inf(-1)}} {
		if b, err := encode(nil, reflect.ValueOf(v)); err == nil {
			t.Errorf("encode(%v) = %s, want an error", v, b)
		}
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		in   string
		want Spec
		err  string
	}{
		{in: ` { "workers" : 3 , "unknown": {"a":[1,{"b":null}],"c":"\u00e4\ud83d\ude00"}, "params":{"k":"v\n"}, "pin":[1,2] } `, want: Spec{Workers: 3, Params: map[string]string{"k": "v\n"}, Pin: []int{1, 2}}},
		{in: `{"pin":[],"profiles":{"cpu":true,"mutex":1},"delay_ns":{"lock/mutex":5}}`, want: Spec{Pin: []int{}, Profile: Profiles{CPU: true, Mutex: 1}, Delay: map[string]int64{"lock/mutex": 5}}},
		{in: `{"workers":null}`},
		{in: `{"workers":"3"}`, err: "workers: a string where int is wanted"},
		{in: `{"workers":3`, err: "want '}'"},
		{in: `{"workers":3}x`, err: "more text"},
		{in: `{"workers":3.5}`, err: "invalid syntax"},
		{in: `{"workers":99999999999999999999}`, err: "out of range"},
		{in: `[1]`, err: "an array where"},
		{in: ``, err: "unexpected end"},
		{in: `{"x":` + strings.Repeat("[", 100), err: "nested too deeply"},
		{in: `{"target":"a` + "\n" + `"}`, err: "control character"},
		{in: `{"target":"\x"}`, err: "bad escape"},
		{in: `{"x":nonsense}`, err: "bad value"},
	}
	for _, tt := range tests {
		var got Spec
		err := decode([]byte(tt.in), &got)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("decode(%.40s): error %v, want one with %q", tt.in, err, tt.err)
			}
			continue
		}
		if d := cmp.Diff(tt.want, got); err != nil || d != "" {
			t.Errorf("decode(%.40s): %v\n%s", tt.in, err, d)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"target":"a\u1234","workers":1,"pin":[1],"params":{"a":"b"},"profiles":{"cpu":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var ours, theirs Spec
		if decode(data, &ours) != nil {
			return
		}
		again, err := encode(nil, reflect.ValueOf(&ours))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &theirs); err != nil {
			t.Fatalf("%v in %s", err, again)
		}
	})
}
