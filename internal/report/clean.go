package report

import (
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names in a capture are anybody's: functions, files, targets, the processor. A
// terminal obeys some of what they may hold, a browser or a reader's eye other
// parts of it. Every renderer for people works on a cleaned copy.

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
			for _, k := range from.MapKeys() {
				key, value := reflect.New(from.Type().Key()).Elem(), reflect.New(from.Type().Elem()).Elem()
				copyClean(key, k)
				copyClean(value, from.MapIndex(k))
				to.SetMapIndex(key, value)
			}
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
