package jsonlib

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/scaleprof/scaleprof/internal/workload"
)

var errWrongResult = errors.New("the result differs from that of the first run")

// document is an object to marshal, and how to look at what came back.
type document struct {
	name   string
	value  any        // what is marshalled; never changed
	fresh  func() any // a pointer to a new, empty value to unmarshal into
	probes int        // parts that probe can look at
	// probe digests part k, in [0, probes), of a value that fresh made and that
	// was filled. It allocates nothing, and takes some tens of nanoseconds.
	probe func(filled any, k int) uint64
}

// documentNames are the values of the doc parameter.
func documentNames() []string { return []string{"seed", "twitter", "numbers"} }

// chooseDocument builds the document that the parameters ask for.
func chooseDocument(values map[string]string) (*document, error) {
	name, file := values[paramDoc], values[paramFile]
	switch {
	case file != "" && name != "":
		return nil, fmt.Errorf("both a document (doc=%s) and a file (json=%s) are given; one of them is enough", name, file)
	case file != "":
		return fileDocument(file)
	}
	switch name {
	case "", "seed":
		return seedDocument(), nil
	case "twitter":
		return twitterDocument(), nil
	case "numbers":
		return numbersDocument(), nil
	}
	if near := workload.Nearest(name, documentNames()); len(near) > 0 {
		return nil, fmt.Errorf("unknown document %q; did you mean %s?", name, near[0])
	}
	return nil, fmt.Errorf("unknown document %q; there are seed, twitter and numbers, and json=FILE for your own", name)
}

// seedEntries is how many entries the seed's object has.
const seedEntries = 100

// seedDocument is exactly the seed experiment's: a map of "0" to "99", each to
// the int of its key, unmarshalled into an empty interface.
func seedDocument() *document {
	object := make(map[string]any, seedEntries)
	for i := range seedEntries {
		object[strconv.Itoa(i)] = i
	}
	return untyped("seed", object)
}

// untyped is a document of maps and slices, unmarshalled into an empty interface.
func untyped(name string, value any) *document {
	doc := &document{name: name, value: value, fresh: func() any { return new(any) }, probes: 1}
	switch v := value.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		keys = keys[:min(len(keys), maxProbes)]
		doc.probes = max(1, len(keys))
		doc.probe = func(filled any, k int) uint64 {
			m, ok := (*filled.(*any)).(map[string]any)
			if !ok || k >= len(keys) {
				return uint64(len(m))
			}
			return digest(m[keys[k]]) + uint64(len(m))
		}
	case []any:
		doc.probes = max(1, min(len(v), maxProbes))
		doc.probe = func(filled any, k int) uint64 {
			s, ok := (*filled.(*any)).([]any)
			if !ok || k >= len(s) {
				return uint64(len(s))
			}
			return digest(s[k]) + uint64(len(s))
		}
	default:
		doc.probe = func(filled any, _ int) uint64 { return digest(*filled.(*any)) }
	}
	return doc
}

// maxProbes bounds the table of expected values.
const maxProbes = 128

// digest is a cheap number for a decoded value: exact for scalars, the size of
// strings and containers.
func digest(v any) uint64 {
	switch v := v.(type) {
	case float64:
		return math.Float64bits(v)
	case string:
		if v == "" {
			return 1
		}
		return uint64(len(v))<<16 | uint64(v[0])<<8 | uint64(v[len(v)-1])
	case bool:
		if v {
			return 2
		}
		return 3
	case map[string]any:
		return uint64(len(v))<<8 | 4
	case []any:
		return uint64(len(v))<<8 | 5
	}
	return 6
}
