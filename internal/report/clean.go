package report

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names in a capture are anybody's: functions, files, targets, the processor. A
// terminal obeys some of what they may hold, a browser or a reader's eye other
// parts of it. Every renderer works on a cleaned copy, JSON too: it is read at
// terminals as much as by programs. This file is the one place that says what
// clean is.

// Clean is text of a capture's as it may be shown: see cleanText.
func Clean(s string) string { return cleanText(s) }

// Cleaned is a copy of the report that may be shown and compared: reports of the
// same names are the same whether they come from a capture or from stored JSON.
func Cleaned(r *Report) *Report { return cleaned(r) }

// cleaned is a copy of v in which every string is cleanText's. It follows
// pointers, slices, maps and structs; reports have no cycles.
func cleaned[T any](v *T) *T {
	out := reflect.New(reflect.TypeFor[T]())
	copyClean(out.Elem(), reflect.ValueOf(v).Elem())
	return out.Interface().(*T)
}

func copyClean(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(cleanText(from.String()))
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			copyClean(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyClean(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
			keys := from.MapKeys()
			// Of names that become the same the last stays, always the same one.
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, k := range keys {
				key, value := reflect.New(from.Type().Key()).Elem(), reflect.New(from.Type().Elem()).Elem()
				copyClean(key, k)
				copyClean(value, from.MapIndex(k))
				to.SetMapIndex(key, value)
			}
		}
	case reflect.Array:
		for i := range from.Len() {
			copyClean(to.Index(i), from.Index(i))
		}
	case reflect.Interface:
		if !from.IsNil() {
			value := reflect.New(from.Elem().Type()).Elem()
			copyClean(value, from.Elem())
			to.Set(value)
		}
	case reflect.Struct:
		for i := range from.NumField() {
			copyClean(to.Field(i), from.Field(i))
		}
	default:
		to.Set(from)
	}
}

// cleanText is s in valid UTF-8 and on one line, without anything that a
// terminal obeys and without characters that reorder or hide others: each of
// those becomes U+FFFD, so that one sees that there was something.
func cleanText(s string) string {
	if plainText(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
			return utf8.RuneError
		}
		return r
	}, s)
}

func plainText(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
