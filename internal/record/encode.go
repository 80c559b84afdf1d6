package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// marshal is the manifest as JSON, one run a line.
func marshal(m *Manifest) ([]byte, error) {
	top := *m
	top.Runs = nil
	data, err := json.Marshal(&top)
	if err != nil {
		return nil, err
	}
	// A quote inside a string is escaped, so this can only be the key.
	const hole = `"runs":null`
	before, after, found := bytes.Cut(data, []byte(hole))
	if !found {
		return nil, errors.New("no place for the runs")
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteString(`"runs":[`)
	for i := range m.Runs {
		run, err := json.Marshal(&m.Runs[i])
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", m.Runs[i].ID, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(run)
	}
	b.WriteString("\n]")
	b.Write(after)
	b.WriteByte('\n')
	return b.Bytes(), nil
}
