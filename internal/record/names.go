package record

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"
)

// maxName bounds a cell's ID, in bytes, so that a run's directory fits any file system.
const maxName = 120

// CellID is the cell's name, fit for a file: json-sonic-thread-t8, with the
// arm appended unless it is the baseline. Names that a file cannot have lose
// what it cannot; a hash keeps them apart.
func CellID(target string, mode Mode, threads int, arm string) string {
	id := fmt.Sprintf("%s-%s-t%d", slug(target), mode, threads)
	if arm != "" && arm != Baseline {
		id += "-" + slug(armSlug(arm))
	}
	if len(id) <= maxName {
		return id
	}
	return id[:maxName-9] + "-" + hash(id)
}

// armSlug writes gogc=400 as gogc400, and procs=threads as procs-threads.
func armSlug(arm string) string {
	var b strings.Builder
	for i := range len(arm) {
		if arm[i] == '=' && i+1 < len(arm) && arm[i+1] >= '0' && arm[i+1] <= '9' {
			continue
		}
		b.WriteByte(arm[i])
	}
	return b.String()
}

// slug keeps letters, digits, dots and underscores; each run of others becomes
// one dash. Where that loses more than the usual separators, a hash is added.
func slug(s string) string {
	var b strings.Builder
	lossy := false
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.' && b.Len() > 0, r == '_':
			b.WriteRune(r)
		case r == '/' || r == '-' || r == '=' || r == '+':
			dash(&b)
		default:
			lossy = true
			dash(&b)
		}
	}
	out := strings.Trim(b.String(), "-.")
	if lossy || out == "" {
		out = strings.TrimPrefix(out+"-"+hash(s), "-")
	}
	return out
}

func dash(b *strings.Builder) {
	if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
		b.WriteByte('-')
	}
}

func hash(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// safeName reports whether a name can stand in any path without leaving it.
func safeName(s string) bool {
	if s == "" || len(s) > maxName+16 || s[0] == '.' || s[0] == '-' {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._-=+,", r):
		default:
			return false
		}
	}
	return true
}

// localPath reports whether a path from a manifest stays below the capture:
// relative, with slashes, clean, of safe names.
func localPath(p string) bool {
	if !filepath.IsLocal(p) || len(p) > 512 {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		if !safeName(part) {
			return false
		}
	}
	return true
}
