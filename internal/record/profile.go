package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"
)

// Bounds on a profile of a run, in bytes. One of 64 CPUs over ten seconds with
// deep stacks has about 10 MB uncompressed.
const (
	maxProfile      = 32 << 20
	maxUncompressed = 64 << 20
	maxMessages     = 2 << 20 // samples, locations, functions and the like
)

// Profile reads a pprof file of the capture.
func (c *Capture) Profile(f File) (*profile.Profile, error) {
	file, err := c.Open(f, maxProfile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := ReadProfile(file)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", f.Path, err)
	}
	return p, nil
}

// ReadProfile reads a pprof file, compressed or not, that may be damaged or
// made to harm: it reads no more than a bounded size, also after decompression.
func ReadProfile(r io.Reader) (p *profile.Profile, err error) {
	data, err := readBounded(r, maxProfile)
	if err != nil {
		return nil, err
	}
	if len(data) >= 2 && data[0] == 0x1f && data[1] == 0x8b {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w", err)
		}
		if data, err = readBounded(zr, maxUncompressed); err != nil {
			return nil, fmt.Errorf("decompressing: %w", err)
		}
	}
	if len(data) == 0 {
		return nil, errors.New("empty")
	}
	if err := checkWire(data); err != nil {
		return nil, err
	}
	// The parser is not made for hostile input.
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("not a pprof file: %v", v)
		}
	}()
	if p, err = profile.ParseUncompressed(data); err != nil {
		return nil, fmt.Errorf("not a pprof file: %w", err)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("not a pprof file: %w", err)
	}
	return p, nil
}

func readBounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("larger than the %d MB that are read", most>>20)
	}
	return data, nil
}

// checkWire walks the top level of the protocol buffer and refuses one with
// more messages than any profile has: two bytes of an empty message become
// hundreds in memory.
func checkWire(data []byte) error {
	for n := 0; len(data) > 0; n++ {
		if n > maxMessages {
			return fmt.Errorf("more than the %d entries that are read", maxMessages)
		}
		key, size := uvarint(data)
		if size <= 0 {
			return errors.New("not a pprof file: cut off or damaged")
		}
		data = data[size:]
		var skip uint64
		switch key & 7 {
		case 0:
			_, size = uvarint(data)
			skip = uint64(size)
			if size <= 0 {
				return errors.New("not a pprof file: cut off or damaged")
			}
		case 1:
			skip = 8
		case 2:
			skip, size = uvarint(data)
			if size <= 0 {
				return errors.New("not a pprof file: cut off or damaged")
			}
			data = data[size:]
		case 5:
			skip = 4
		default:
			return errors.New("not a pprof file")
		}
		if skip > uint64(len(data)) {
			return errors.New("not a pprof file: cut off or damaged")
		}
		data = data[skip:]
	}
	return nil
}

// uvarint reads a variable-length integer and its size, 0 if it is cut off.
func uvarint(b []byte) (v uint64, size int) {
	for i, c := range b {
		if i == 10 {
			return 0, 0
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
