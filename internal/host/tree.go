package host

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree is a file system that looks like a Linux machine: "/" itself, or a
// fixture. All names are slash-separated and relative to its root.
type tree struct{ root string }

// maxFile bounds what is read of any one file; /proc/cpuinfo of a machine with
// 1024 CPUs is about 2 MB.
const maxFile = 8 << 20

// live reports whether the tree is the running machine.
func (t tree) live() bool { return filepath.Clean(t.root) == string(filepath.Separator) }

// path is the file's name on this machine. Cleaning name as a rooted path keeps it below the root.
func (t tree) path(name string) string {
	return filepath.Join(t.root, filepath.FromSlash(path.Clean("/"+name)))
}

// read returns the file's content and whether it could be read.
func (t tree) read(name string) (string, bool) {
	f, err := os.Open(t.path(name))
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return "", false
	}
	return string(data), true
}

// text is the file's content without surrounding space, "" when there is none.
func (t tree) text(name string) string {
	s, _ := t.read(name)
	return strings.Trim(s, " \t\r\n\x00")
}

// int64 reads one number.
func (t tree) int64(name string) (int64, bool) {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	return n, err == nil
}

// exists reports whether the name is there, a file or a directory.
func (t tree) exists(name string) bool {
	_, err := os.Stat(t.path(name))
	return err == nil
}

// list returns the names in a directory, sorted; nil when there is none.
func (t tree) list(name string) []string {
	entries, err := os.ReadDir(t.path(name))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// numbered returns the numbers N of entries prefixN in a directory, sorted.
func (t tree) numbered(dir, prefix string) []int {
	var out []int
	for _, name := range t.list(dir) {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err == nil && n >= 0 && n < maxCPU {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// set reads a CPU list, or failing that a mask, from the first of the names that has one.
// Names that end in _list or list are lists; others are masks.
func (t tree) set(names ...string) (cpuSet, bool) {
	for _, name := range names {
		s, ok := t.read(name)
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		parse := parseMask
		if strings.HasSuffix(name, "list") {
			parse = parseList
		}
		if set, err := parse(s); err == nil && len(set) > 0 {
			return set, true
		}
	}
	return nil, false
}

// listSet reads files in list format whose names do not say so: "online", "cpuset.cpus".
func (t tree) listSet(names ...string) (cpuSet, bool) {
	for _, name := range names {
		s, ok := t.read(name)
		if !ok || strings.TrimSpace(s) == "" {
			continue
		}
		if set, err := parseList(s); err == nil && len(set) > 0 {
			return set, true
		}
	}
	return nil, false
}
