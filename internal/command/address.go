package command

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// address is where something of the program answers. It is resolved once,
// before anything runs: no later answer of a name server leads elsewhere.
type address struct {
	dial string // IP:port
	host string // for the Host header
	path string // of the URL, with its query; "" where only a connection is wanted
}

// String is the address as the user would write it.
func (a address) String() string {
	if a.path == "" {
		return a.host
	}
	return "http://" + a.host + a.path
}

// at is the same server with a path below a's.
func (a address) at(name string) address {
	a.path += name
	return a
}

// parseAddress reads a flag's URL, HOST:PORT or :PORT.
func parseAddress(ctx context.Context, flag, text string, remote bool) (address, error) {
	full := text
	if !strings.Contains(text, "://") {
		full = "http://" + text
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || strings.ContainsAny(full, " \r\n") {
		return address{}, fmt.Errorf("%s: %q is no address; want for instance http://127.0.0.1:6060", flag, clip(text))
	}
	if u.Scheme != "http" {
		return address{}, fmt.Errorf("%s: %q: only http is spoken; let the program answer on a plain port of this machine as well", flag, clip(text))
	}
	if u.User != nil {
		return address{}, fmt.Errorf("%s: an address with a password is not taken: it would be kept in the capture", flag)
	}
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = "80"
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ip, err := resolve(ctx, flag, host, remote)
	if err != nil {
		return address{}, err
	}
	a := address{dial: net.JoinHostPort(ip, port), host: net.JoinHostPort(host, port), path: u.EscapedPath()}
	if u.RawQuery != "" {
		a.path += "?" + u.RawQuery
	}
	return a, nil
}

// resolve gives the IP to connect to. Every address of the name must be this
// machine's own, unless others are allowed.
func resolve(ctx context.Context, flag, host string, remote bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("%s: the name %q is not known here", flag, clip(host))
	}
	best := all[0].Unmap()
	for _, ip := range all {
		ip = ip.Unmap()
		if !ip.IsLoopback() && !remote {
			return "", fmt.Errorf("%s: %s is %s, which is not a loopback address; --allow-remote permits it", flag, clip(host), ip)
		}
		if better(ip, best) {
			best = ip
		}
	}
	return best.String(), nil
}

// better prefers IPv4, which a server that names no family listens to.
func better(a, b netip.Addr) bool { return a.Is4() && !b.Is4() }

// taken reports whether something accepts connections there.
func (a address) taken(ctx context.Context) bool {
	d := net.Dialer{Timeout: 500 * time.Millisecond}
	c, err := d.DialContext(ctx, "tcp", a.dial)
	if err != nil {
		return false
	}
	c.Close()
	return true
}
