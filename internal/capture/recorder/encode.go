package recorder

import (
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file writes and reads the JSON of this package's own types. It exists
// because the package is built into test binaries: a test of encoding/json, or
// of anything that encoding/json imports, cannot import it. The forms accepted
// and produced are those of encoding/json for structs with json tags, pointers,
// maps with string keys, slices, arrays, strings, booleans and numbers.

// encode appends v as JSON.
func encode(b []byte, v reflect.Value) ([]byte, error) {
	switch v.Kind() {
	case reflect.Ptr:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return encode(b, v.Elem())
	case reflect.Struct:
		return encodeStruct(b, v)
	case reflect.Map:
		return encodeMap(b, v)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		var err error
		for i := 0; i < v.Len(); i++ {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = encode(b, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case reflect.String:
		return quote(b, v.String()), nil
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case reflect.Float64:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("encoding %v: not a JSON number", f)
		}
		return strconv.AppendFloat(b, f, 'g', -1, 64), nil
	}
	return nil, fmt.Errorf("encoding %s: no JSON form here", v.Type())
}

func encodeStruct(b []byte, v reflect.Value) ([]byte, error) {
	b = append(b, '{')
	first := true
	for i := 0; i < v.NumField(); i++ {
		name, omit := tagOf(v.Type().Field(i))
		if name == "" || omit && empty(v.Field(i)) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(quote(b, name), ':')
		var err error
		if b, err = encode(b, v.Field(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return append(b, '}'), nil
}

func encodeMap(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(quote(b, k.String()), ':')
		var err error
		if b, err = encode(b, v.MapIndex(k)); err != nil {
			return nil, fmt.Errorf("%s: %w", k.String(), err)
		}
	}
	return append(b, '}'), nil
}

// tagOf is a field's JSON name, "" for a field that has none.
func tagOf(f reflect.StructField) (name string, omitempty bool) {
	parts := strings.Split(f.Tag.Get("json"), ",")
	for _, p := range parts[1:] {
		omitempty = omitempty || p == "omitempty"
	}
	return parts[0], omitempty
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func quote(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}
