package traces

import (
	"bytes"
	"strconv"
	"strings"
)

// place parses the words that tell a place, of which first is the first, up to
// the end of the line.
func (w *words) place(first []byte) (*Place, fault) {
	if string(first) != "DIR:" {
		return nil, fault{"expected DIR: or the end of the line", first}
	}
	var p Place
	var bad fault
	if p.Dir, p.Name, bad = w.entry("DIR:", "NAME:"); bad.reason != "" {
		return nil, bad
	}
	word := w.next()
	if string(word) == "TODIR:" {
		if p.ToDir, p.ToName, bad = w.entry("TODIR:", "TONAME:"); bad.reason != "" {
			return nil, bad
		}
		word = w.next()
	}
	if len(word) > 0 {
		return nil, fault{"expected the end of the line", word}
	}
	return &p, fault{}
}

// entry parses a directory, the label of a name and a quoted name.
func (w *words) entry(dir, label string) (FID, string, fault) {
	word := w.next()
	fid, ok := parseFID(word)
	if !ok {
		return 0, "", fault{"expected 1 to 16 hexadecimal digits after " + dir, word}
	}
	if word = w.next(); string(word) != label {
		return 0, "", fault{"expected " + label, word}
	}
	w.skip()
	name, rest, ok := unquote(w.rest)
	if !ok || len(rest) > 0 && !blank(rest[0]) {
		return 0, "", fault{"expected a name in quotation marks after " + label, w.next()}
	}
	w.rest = rest
	return fid, name, fault{}
}

// unquote reads a name in quotation marks, with the escapes of Go, from the
// beginning of b. Other bytes stand for themselves, whatever their encoding.
func unquote(b []byte) (name string, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return "", b, false
	}
	b = b[1:]
	if i := bytes.IndexAny(b, `"\\`); i >= 0 && b[i] == '"' {
		return string(b[:i]), b[i+1:], true // nothing is escaped
	}
	text := string(b)
	var out strings.Builder
	for len(text) > 0 {
		switch text[0] {
		case '"':
			return out.String(), b[len(b)-len(text)+1:], true
		case '\\':
			r, multibyte, tail, err := strconv.UnquoteChar(text, '"')
			if err != nil {
				return "", b, false
			}
			if text = tail; multibyte {
				out.WriteRune(r)
			} else {
				out.WriteByte(byte(r))
			}
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return "", b, false
}

// appendPlace appends the words of a place, with a blank before each. What
// cannot be printed is escaped, so that the words are one line of UTF-8
// whatever the names hold.
func appendPlace(dst []byte, p *Place, renames bool) []byte {
	dst = append(dst, " DIR: "...)
	dst = appendPadded(dst, uint64(p.Dir), 16, 16)
	dst = append(dst, " NAME: "...)
	dst = strconv.AppendQuote(dst, p.Name)
	if renames {
		dst = append(dst, " TODIR: "...)
		dst = appendPadded(dst, uint64(p.ToDir), 16, 16)
		dst = append(dst, " TONAME: "...)
		dst = strconv.AppendQuote(dst, p.ToName)
	}
	return dst
}
