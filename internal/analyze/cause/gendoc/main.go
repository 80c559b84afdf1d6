// Command gendoc writes the page of causes to the file that it is given.
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/scaleprof/scaleprof/internal/analyze/cause"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "gendoc:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want one file name, got %d", len(args))
	}
	var b bytes.Buffer
	if err := cause.WriteMarkdown(&b); err != nil {
		return err
	}
	return os.WriteFile(args[0], b.Bytes(), 0o666)
}
