package jsonlib

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// maxFile bounds a user's document, in bytes. What is measured is the library,
// not the machine's memory.
const maxFile = 256 << 20

// fileDocument is the user's own text, decoded once by encoding/json for every
// library, so that all of them marshal the same object.
func fileDocument(path string) (*document, error) {
	data, err := readBounded(path, maxFile)
	if err != nil {
		return nil, err
	}
	var value any
	if err := stdjson.Unmarshal(data, &value); err != nil {
		return nil, locate(path, data, err)
	}
	return untyped(path, value), nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the JSON document: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the JSON document: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("reading the JSON document: %s is larger than %d MB", path, limit>>20)
	}
	return data, nil
}

// locate says where in the text encoding/json found the fault: line and column
// from 1, the column in characters, and the offset from 0 in bytes.
func locate(path string, data []byte, err error) error {
	var (
		syntax *stdjson.SyntaxError
		typed  *stdjson.UnmarshalTypeError
		after  int64 // bytes read when the fault showed
	)
	switch {
	case errors.As(err, &syntax):
		after = syntax.Offset
	case errors.As(err, &typed):
		after = typed.Offset
	default:
		return fmt.Errorf("%s: %w", path, err)
	}
	at := after - 1
	if len(data) == 0 {
		return fmt.Errorf("%s is empty, not a JSON text", path)
	}
	if isTruncation(data) {
		at = int64(len(data)) // the fault is what does not follow
	}
	at = min(max(at, 0), int64(len(data)))
	before := data[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s:%d:%d: not a JSON text at byte offset %d: %w", path, line, column, at, err)
}

// isTruncation reports whether data is a beginning of a JSON text.
func isTruncation(data []byte) bool {
	d := stdjson.NewDecoder(bytes.NewReader(data))
	var raw stdjson.RawMessage
	err := d.Decode(&raw)
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
