package recorder

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON that is read.
const maxDepth = 64

// decode reads JSON into what v points to. Unknown keys are skipped.
func decode(data []byte, v interface{}) error {
	p := &parser{data: data}
	err := p.value(reflect.ValueOf(v).Elem(), 0)
	if err == nil && p.peek() != 0 {
		err = errors.New("more text after the value")
	}
	if err != nil {
		return fmt.Errorf("at byte %d: %w", p.pos, err)
	}
	return nil
}

type parser struct {
	data []byte
	pos  int
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.pos < len(p.data) {
		switch c := p.data[p.pos]; c {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

func (p *parser) expect(c byte) error {
	if p.peek() != c {
		return fmt.Errorf("want %q", c)
	}
	p.pos++
	return nil
}

// word takes a number, true, false or null.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.data) && strings.IndexByte("+-.0123456789abcdefghijklmnopqrstuvwxyzE", p.data[p.pos]) >= 0 {
		p.pos++
	}
	return string(p.data[start:p.pos])
}

func (p *parser) value(v reflect.Value, depth int) error {
	if depth > maxDepth {
		return errors.New("nested too deeply")
	}
	switch p.peek() {
	case 0:
		return errors.New("unexpected end")
	case '{':
		return p.object(v, depth)
	case '[':
		return p.array(v, depth)
	case '"':
		s, err := p.str()
		if err != nil || !v.IsValid() {
			return err
		}
		v = target(v)
		if v.Kind() != reflect.String {
			return fmt.Errorf("a string where %s is wanted", v.Type())
		}
		v.SetString(s)
		return nil
	}
	return p.scalar(v)
}

// target follows pointers, making what they point to.
func target(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Ptr {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		v = v.Elem()
	}
	return v
}

func (p *parser) scalar(v reflect.Value) error {
	w := p.word()
	if w == "null" {
		if v.IsValid() {
			v.Set(reflect.Zero(v.Type()))
		}
		return nil
	}
	if !v.IsValid() {
		if _, err := strconv.ParseFloat(w, 64); err != nil && w != "true" && w != "false" {
			return fmt.Errorf("bad value %q", w)
		}
		return nil
	}
	v = target(v)
	switch v.Kind() {
	case reflect.Bool:
		if w != "true" && w != "false" {
			return fmt.Errorf("%q where true or false is wanted", w)
		}
		v.SetBool(w == "true")
		return nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(w, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(w, 10, v.Type().Bits())
		v.SetUint(n)
		return err
	case reflect.Float64:
		f, err := strconv.ParseFloat(w, 64)
		v.SetFloat(f)
		return err
	}
	return fmt.Errorf("%q where %s is wanted", w, v.Type())
}

func (p *parser) array(v reflect.Value, depth int) error {
	p.pos++
	if v.IsValid() {
		v = target(v)
		if k := v.Kind(); k != reflect.Slice && k != reflect.Array {
			return fmt.Errorf("an array where %s is wanted", v.Type())
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	}
	if p.peek() == ']' {
		p.pos++
		return nil
	}
	for i := 0; ; i++ {
		var elem reflect.Value
		switch {
		case !v.IsValid():
		case v.Kind() == reflect.Slice:
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			elem = v.Index(i)
		case i < v.Len():
			elem = v.Index(i)
		}
		if err := p.value(elem, depth+1); err != nil {
			return err
		}
		if p.peek() == ',' {
			p.pos++
			continue
		}
		return p.expect(']')
	}
}

func (p *parser) object(v reflect.Value, depth int) error {
	p.pos++
	if v.IsValid() {
		v = target(v)
		switch v.Kind() {
		case reflect.Struct:
		case reflect.Map:
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
		default:
			return fmt.Errorf("an object where %s is wanted", v.Type())
		}
	}
	if p.peek() == '}' {
		p.pos++
		return nil
	}
	for {
		if p.peek() != '"' {
			return errors.New("want a key")
		}
		key, err := p.str()
		if err != nil {
			return err
		}
		if err := p.expect(':'); err != nil {
			return err
		}
		if err := p.member(v, key, depth); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if p.peek() == ',' {
			p.pos++
			continue
		}
		return p.expect('}')
	}
}

func (p *parser) member(v reflect.Value, key string, depth int) error {
	if !v.IsValid() {
		return p.value(v, depth+1)
	}
	if v.Kind() == reflect.Map {
		elem := reflect.New(v.Type().Elem()).Elem()
		if err := p.value(elem, depth+1); err != nil {
			return err
		}
		v.SetMapIndex(reflect.ValueOf(key), elem)
		return nil
	}
	for i := 0; i < v.NumField(); i++ {
		if name, _ := tagOf(v.Type().Field(i)); name == key {
			return p.value(v.Field(i), depth+1)
		}
	}
	return p.value(reflect.Value{}, depth+1)
}

// str reads a string; the parser stands on its opening quote.
func (p *parser) str() (string, error) {
	p.pos++
	var b []byte
	for p.pos < len(p.data) {
		c := p.data[p.pos]
		p.pos++
		switch {
		case c == '"':
			return string(b), nil
		case c < 0x20:
			return "", errors.New("control character in a string")
		case c != '\\':
			b = append(b, c)
		default:
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			b = append(b, string(r)...)
		}
	}
	return "", errors.New("string without an end")
}

func (p *parser) escape() (rune, error) {
	if p.pos >= len(p.data) {
		return 0, errors.New("string without an end")
	}
	c := p.data[p.pos]
	p.pos++
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return 0, fmt.Errorf("bad escape %q", c)
	}
	r, err := p.hex4()
	if err != nil || r < 0xd800 || r > 0xdfff {
		return r, err
	}
	// The first half of a surrogate pair, unless something is wrong with it.
	if r < 0xdc00 && p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && p.data[p.pos+1] == 'u' {
		back := p.pos
		p.pos += 2
		low, err := p.hex4()
		if err != nil {
			return 0, err
		}
		if low >= 0xdc00 && low <= 0xdfff {
			return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, nil
		}
		p.pos = back
	}
	return utf8.RuneError, nil
}

func (p *parser) hex4() (rune, error) {
	if p.pos+4 > len(p.data) {
		return 0, errors.New("string without an end")
	}
	n, err := strconv.ParseUint(string(p.data[p.pos:p.pos+4]), 16, 16)
	p.pos += 4
	return rune(n), err
}
