package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
)

// request is one question to the program.
type request struct {
	from  address
	limit int64         // bytes of the body that are read; more is an error, unless cut
	stop  chan struct{} // closed to end a recording early; nil for none
	wait  time.Duration // for the answer, after a recording's end
	cut   bool          // at the limit, the recording is ended as by stop
}

// errCut is the error of a recording that was ended at its limit.
var errCut = errors.New("it was ended at its limit")

// send asks and copies the body to w. It speaks plain HTTP on a connection of
// its own, for the sake of one thing: closing only the half that it writes to
// tells a net/http server that nobody waits any longer, upon which
// net/http/pprof ends its recording, and answers all the same. That is how a
// recording ends with the load, however long it was to last.
//
// An error of the program's answer is one line that begins with its address.
func (r *request) send(ctx context.Context, w io.Writer) error {
	d := net.Dialer{Timeout: 5 * time.Second}
	conn, err := d.DialContext(ctx, "tcp", r.from.dial)
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", r.from, bare(err))
	}
	defer conn.Close()
	done := make(chan struct{})
	defer close(done)
	full := make(chan struct{})
	go r.hangUp(ctx, conn, done, full)

	path := r.from.path
	if path == "" {
		path = "/"
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: scaleprof\r\nAccept: */*\r\nConnection: close\r\n\r\n", path, r.from.host); err != nil {
		return fmt.Errorf("%s does not answer: %w", r.from, bare(err))
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, 3*r.limit+maxHeader)), nil)
	if err != nil {
		return r.broken(ctx, "gave no answer", err)
	}
	defer resp.Body.Close()
	if err := r.refused(resp); err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, r.limit))
	if err != nil {
		return r.broken(ctx, fmt.Sprintf("broke off after %d bytes", n), err)
	}
	if n < r.limit {
		return nil
	}
	if !r.cut {
		return fmt.Errorf("%s answered more than the %d MB that are read", r.from, r.limit>>20)
	}
	close(full)
	// What is on its way still makes the recording whole.
	if _, err := io.Copy(w, io.LimitReader(resp.Body, r.limit)); err != nil {
		return r.broken(ctx, "broke off at its end", err)
	}
	return errCut
}

// maxHeader bounds an answer beside its body.
const maxHeader = 64 << 10

// hangUp ends the recording when it is told to, and the connection with ctx or
// when the answer takes too long after that.
func (r *request) hangUp(ctx context.Context, conn net.Conn, done, full chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
		conn.Close()
		return
	case <-r.stop:
	case <-full:
	}
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.CloseWrite() // then the recording lasts as long as it was to
	}
	_ = conn.SetReadDeadline(time.Now().Add(r.wait))
	select {
	case <-done:
	case <-ctx.Done():
		conn.Close()
	}
}

func (r *request) broken(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s %s within %s of the window's end", r.from, what, r.wait)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &endedError{fmt.Errorf("%s %s: the connection was closed", r.from, what)}
	}
	return &endedError{fmt.Errorf("%s %s: %w", r.from, what, bare(err))}
}

// endedError is a connection that the program has ended.
type endedError struct{ error }

func (e *endedError) Unwrap() error { return e.error }

// statusError is an answer that is no success.
type statusError struct {
	from address
	code int
	text string // its first line
}

func (e *statusError) Error() string {
	s := fmt.Sprintf("%s answered %d %s", e.from, e.code, http.StatusText(e.code))
	if e.text != "" {
		s += " (" + e.text + ")"
	}
	return s
}

// refused says what is wrong with an answer before its body is read.
func (r *request) refused(resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 512)) // as much as there is
		line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		if isHTML(resp) {
			line = ""
		}
		return &statusError{r.from, resp.StatusCode, clip(line)}
	}
	if isHTML(resp) {
		return fmt.Errorf("%s answered with a web page, not with a profile", r.from)
	}
	return nil
}

func isHTML(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && strings.Contains(kind, "html")
}

// bare strips what package net puts before the fault.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}

// ready asks whether the program is ready: it accepts a connection, and where a
// path is given, answers with anything but an error of its own. What it said
// last is for the message.
func (a address) answers(ctx context.Context) (ok bool, said string) {
	if a.path == "" {
		if a.taken(ctx) {
			return true, ""
		}
		return false, "nothing listens there"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.host+a.path, nil)
	if err != nil {
		return false, err.Error()
	}
	client := http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, network, a.dial)
			},
		},
		// Where it leads to is not what was allowed.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return false, "it did not answer within 2s"
		}
		return false, "nothing listens there"
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
	if resp.StatusCode >= 400 {
		return false, fmt.Sprintf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	return true, ""
}
