// Package jsonlib is the JSON libraries as workloads: the same operation on the
// same document behind one interface, so that only the library differs.
//
// One operation marshals a prepared object and unmarshals the result into a
// fresh value. Every library runs in the configuration that is compatible with
// encoding/json where it has one: map keys are sorted, so that its output is
// the same bytes every time and can be verified.
package jsonlib

import (
	stdjson "encoding/json"
	"fmt"
	"runtime"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	segmentio "github.com/segmentio/encoding/json"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// library is a JSON library under test.
type library struct {
	name        string // of the workload, without "json/"
	title       string
	module      string // whose version the manifest records, "" for the standard library
	opNS        int64  // of the default document, roughly, one worker
	unavailable string // why it cannot run here under its own name, "" if it can
	marshal     func(any) ([]byte, error)
	unmarshal   func([]byte, any) error
}

// All returns one workload for each library.
func All() []workload.Workload {
	all := make([]workload.Workload, 0, 6)
	for _, lib := range libraries() {
		all = append(all, &jsonWorkload{lib: lib})
	}
	return all
}

func libraries() []library {
	return []library{
		sonicLibrary(sonic.APIKind),
		{
			name: "std", title: "encoding/json of the standard library", opNS: 40_000,
			marshal: stdjson.Marshal, unmarshal: stdjson.Unmarshal,
		},
		{
			name: "goccy", title: "goccy/go-json", module: "github.com/goccy/go-json", opNS: 25_000,
			marshal: goccy.Marshal, unmarshal: goccy.Unmarshal,
		},
		jsoniterLibrary(),
		{
			name: "segmentio", title: "segmentio/encoding", module: "github.com/segmentio/encoding", opNS: 30_000,
			marshal: segmentio.Marshal, unmarshal: segmentio.Unmarshal,
		},
		jsonv2Library(),
	}
}

// sonicLibrary takes sonic's own statement of what it is. On a Go version or
// architecture that it does not know, sonic quietly becomes encoding/json, and
// measuring that under sonic's name would be a lie.
func sonicLibrary(apiKind int) library {
	api := sonic.ConfigStd
	lib := library{
		name: "sonic", title: "bytedance/sonic, ConfigStd (compiles the codec of a type at first use)",
		module: "github.com/bytedance/sonic", opNS: 20_000,
		marshal: api.Marshal, unmarshal: api.Unmarshal,
	}
	if apiKind != sonic.UseSonicJSON {
		lib.unavailable = fmt.Sprintf("this build of sonic has no compiler for %s on %s/%s and falls back to encoding/json, which json/std measures under its own name",
			runtime.Version(), runtime.GOOS, runtime.GOARCH)
	}
	return lib
}

func jsoniterLibrary() library {
	api := jsoniter.ConfigCompatibleWithStandardLibrary
	return library{
		name: "jsoniter", title: "json-iterator/go, the configuration compatible with encoding/json",
		module: "github.com/json-iterator/go", opNS: 40_000,
		marshal: api.Marshal, unmarshal: api.Unmarshal,
	}
}

// jsonv2Library asks for sorted map keys, which version 2 does not do by itself.
func jsonv2Library() library {
	sorted := jsonv2.Deterministic(true)
	return library{
		name: "jsonv2", title: "go-json-experiment/json (encoding/json/v2), map keys sorted",
		module: "github.com/go-json-experiment/json", opNS: 45_000,
		marshal:   func(v any) ([]byte, error) { return jsonv2.Marshal(v, sorted) },
		unmarshal: func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
	}
}
