package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// maxSummed bounds the size of a binary that is summed.
const maxSummed = 4 << 30

// SumFile is the SHA-256 of a regular file, in hex: what tells whether a binary
// is still the one that ran.
func SumFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSummed {
		return "", fmt.Errorf("%s is no regular file of at most %d GiB", path, maxSummed>>30)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxSummed)); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
