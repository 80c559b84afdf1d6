package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"
)

// environment is all that a command takes from its surroundings.
//
// Rules for what is written where: stdout carries the result and nothing else.
// Progress, warnings and hints go to stderr. Errors are "scaleprof: error: …",
// hints "scaleprof: hint: …", in lower case without a final period.
type environment struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
}

// Exit codes, the same in every output format.
const (
	exitOK        = 0
	exitFailure   = 1
	exitUsage     = 2
	exitThreshold = 3 // a threshold of `scaleprof check` is broken
)

// codedError carries an exit code and a hint for the user.
type codedError struct {
	code int
	err  error
	hint string
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// usagef is an error in how the command was called: exit code 2.
func usagef(format string, args ...any) error {
	return &codedError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// withHint adds a line on what to do next.
func withHint(err error, hint string) error {
	var coded *codedError
	if errors.As(err, &coded) {
		return &codedError{code: coded.code, err: err, hint: hint}
	}
	return &codedError{code: exitFailure, err: err, hint: hint}
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, env *environment) int {
	err := newApp(env).Run(ctx, args)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(env.Stderr, "scaleprof: error: %v\n", err)
	var coded *codedError
	if errors.As(err, &coded) {
		if coded.hint != "" {
			fmt.Fprintf(env.Stderr, "scaleprof: hint: %s\n", coded.hint)
		}
		return coded.code
	}
	return exitFailure
}

func newApp(env *environment) *cli.Command {
	usage := func(_ context.Context, _ *cli.Command, err error, _ bool) error {
		return &codedError{code: exitUsage, err: err}
	}
	all := commands(env)
	for _, c := range all {
		c.OnUsageError = usage // not inherited
	}
	return &cli.Command{
		Name:      "scaleprof",
		Usage:     "where did the cores go?",
		Writer:    env.Stdout,
		ErrWriter: env.Stderr,
		// run maps errors to exit codes; the library must not exit by itself.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   usage,
		Commands:       all,
	}
}
