package imports

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxText bounds the logs, which are read whole, in bytes.
const maxText = 64 << 20

// headBytes is how much of a file tells its form.
const headBytes = 4096

// form is what a file turned out to be.
type form int

const (
	formUnknown form = iota
	formText
	formProfile // pprof, gzipped or not
	formTrace
)

// recognise tells the form from a file's first bytes.
func recognise(head []byte) form {
	switch {
	case isGzip(head):
		return formProfile
	case bytes.HasPrefix(head, []byte("go 1.")) && bytes.Contains(head[:min(16, len(head))], []byte(" trace\x00")):
		return formTrace
	case bytes.IndexByte(head, 0) < 0 && printable(head):
		return formText
	case len(head) > 0 && head[0] == 0x0a: // field 1, the sample types, of an uncompressed pprof file
		return formProfile
	}
	return formUnknown
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// printable reports whether most of head is text.
func printable(head []byte) bool {
	odd := 0
	for _, b := range head {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != 0x1b {
			odd++
		}
	}
	return len(head) > 0 && odd*50 <= len(head)
}

// read adds one source.
func (f *facts) read(ctx context.Context, src Source, stdin io.Reader) error {
	if src.Path == "-" {
		if stdin == nil {
			return errors.New("there is no standard input")
		}
		return f.readText(Source{Path: "standard input", Threads: src.Threads}, stdin)
	}
	file, err := os.Open(src.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a directory; name the files in it", src.Path)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", src.Path)
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading %s: %w", src.Path, err)
	}
	head = head[:n]
	whole := io.MultiReader(bytes.NewReader(head), file)
	switch recognise(head) {
	case formProfile:
		return f.readProfile(src, whole, isGzip(head))
	case formTrace:
		return f.readTrace(ctx, src, whole)
	case formText:
		return f.readText(src, whole)
	}
	return unrecognised(src.Path)
}

func unrecognised(path string) error {
	return fmt.Errorf("%s is none of: output of `go test -bench`, a pprof file, an execution trace, the scalability test's log", path)
}

// readText adds a log.
func (f *facts) readText(src Source, r io.Reader) error {
	if src.Threads != 0 {
		return fmt.Errorf("%s says by itself which T its figures are for; --t is for profiles and traces", src.Path)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", src.Path, err)
	}
	if len(text) > maxText {
		return fmt.Errorf("%s is longer than %d MB", src.Path, maxText>>20)
	}
	switch {
	case recognise(text[:min(len(text), headBytes)]) != formText:
		return fmt.Errorf("%s is no text; profiles and traces have to be files", src.Path)
	case isSeedLog(text):
		log, err := parseSeedLog(src.Path, text)
		if err != nil {
			return err
		}
		f.addSeed(src.Path, log)
		return nil
	case isBench(text):
		bench, err := parseBench(src.Path, text)
		if err != nil {
			return err
		}
		return f.addBench(src.Path, bench)
	case bytes.HasPrefix(text, []byte(`{"`)) && bytes.Contains(text, []byte(`"Action":`)):
		return fmt.Errorf("%s is the output of `go test -json`; import what `go test` prints without -json", src.Path)
	}
	return unrecognised(src.Path)
}
