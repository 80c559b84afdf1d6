package jsonlib

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"reflect"

	"github.com/scaleprof/scaleprof/internal/workload"
)

// jsonWorkload runs one library.
type jsonWorkload struct{ lib library }

// Names of the parameters.
const (
	paramDoc  = "doc"
	paramFile = "json"
)

func (j *jsonWorkload) name() string { return "json/" + j.lib.name }

// Info describes the workload.
func (j *jsonWorkload) Info() workload.Info {
	return workload.Info{
		Name:    j.name(),
		Title:   j.lib.title,
		Library: j.lib.module,
		OpNS:    j.lib.opNS,
		Params: map[string]string{
			paramDoc:  "document: seed (default; a map of 100 ints), twitter (12 kB of structs), numbers (12 kB, mostly floats)",
			paramFile: "file with a JSON text to use instead, decoded once before the run",
		},
		Unavailable: j.lib.unavailable,
	}
}

// Check refuses an unknown document or a file that is not JSON.
func (j *jsonWorkload) Check(values map[string]string) error {
	_, err := chooseDocument(values)
	return err
}

// Prepare builds the document and runs the library on it once, so that what a
// library compiles or caches at its first use is there before the clock starts.
// The result is compared with what encoding/json makes of the same document:
// a library that changes the data is not measured.
func (j *jsonWorkload) Prepare(p workload.Params) (workload.Instance, error) {
	if j.lib.unavailable != "" {
		return nil, fmt.Errorf("%s cannot run here: %s", j.name(), j.lib.unavailable)
	}
	doc, err := chooseDocument(p.Values)
	if err != nil {
		return nil, err
	}
	data, err := j.lib.marshal(doc.value)
	if err != nil {
		return nil, fmt.Errorf("%s cannot marshal the %s document: %w", j.name(), doc.name, err)
	}
	decoded := doc.fresh()
	if err := j.lib.unmarshal(data, decoded); err != nil {
		return nil, fmt.Errorf("%s cannot unmarshal its own output of the %s document: %w", j.name(), doc.name, err)
	}
	if err := agreesWithStd(doc, data, decoded); err != nil {
		return nil, fmt.Errorf("%s does not keep the %s document as it was: %w", j.name(), doc.name, err)
	}
	return newInstance(j.name(), &j.lib, doc, data, decoded, p.Workers), nil
}

// agreesWithStd holds a library's output and what it decoded from it against
// encoding/json.
func agreesWithStd(doc *document, data []byte, decoded any) error {
	want, err := stdjson.Marshal(doc.value)
	if err != nil {
		return fmt.Errorf("marshalling the reference: %w", err)
	}
	fromData, fromWant := doc.fresh(), doc.fresh()
	if err := stdjson.Unmarshal(want, fromWant); err != nil {
		return fmt.Errorf("reading the reference back: %w", err)
	}
	if err := stdjson.Unmarshal(data, fromData); err != nil {
		return fmt.Errorf("its output is not what encoding/json can read: %w", err)
	}
	if !reflect.DeepEqual(fromData, fromWant) {
		return fmt.Errorf("its output means something else than that of encoding/json (%s)", firstDifference(data, want))
	}
	if !reflect.DeepEqual(decoded, fromWant) {
		return fmt.Errorf("it decodes its output to other values than encoding/json does")
	}
	return nil
}

// firstDifference shows where two texts part.
func firstDifference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	show := func(b []byte) []byte { return bytes.ToValidUTF8(b[min(at, len(b)):min(at+20, len(b))], []byte("?")) }
	return fmt.Sprintf("at byte %d %q instead of %q", at, show(got), show(want))
}
