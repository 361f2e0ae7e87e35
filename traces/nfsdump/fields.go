package nfsdump

import "bytes"

// odd is what may be wrong with a message. Several can be.
type odd uint8

const (
	shortPacket     odd = 1 << iota // SHORT PACKET
	strangePacket                   // JUMBO or LONGPACKET
	impossibleValue                 // a value that cannot be
	missingField                    // a field that must be there is not
	swappedSize                     // the halves of a size
	otherProcedure                  // a reply to another procedure
)

// debugWords are how many words at the end of a call are debugging output:
// "con = X len = X". Before them, a reply has "status=X pl = X".
const debugWords = 6

// trim takes the debugging output from the end of a line and any word that
// tells of a strange packet.
func trim(text []byte) (fields []byte, what odd) {
	for {
		text = bytes.TrimRight(text, " \r")
		if cut, ok := bytes.CutSuffix(text, []byte("JUMBO")); ok {
			text, what = cut, what|strangePacket
		} else if cut, ok := bytes.CutSuffix(text, []byte("LONGPACKET")); ok {
			text, what = cut, what|strangePacket
		} else if cut, ok := cutDebug(text); ok {
			text = cut
		} else {
			break
		}
	}
	if bytes.Contains(text, []byte("SHORT PACKET")) {
		what |= shortPacket
	}
	return text, what
}

// cutDebug cuts "con = X len = X" and what belongs to it off. The first word
// may be glued to what precedes it.
func cutDebug(text []byte) ([]byte, bool) {
	rest := text
	for n := range debugWords {
		i := bytes.LastIndexByte(rest, ' ')
		if i < 0 && n < debugWords-1 {
			return text, false
		}
		word := rest[i+1:]
		switch n {
		case 1, 4:
			if string(word) != "=" {
				return text, false
			}
		case 2:
			if string(word) != "len" {
				return text, false
			}
		case 5:
			cut, ok := bytes.CutSuffix(rest, []byte("con"))
			if !ok {
				return text, false
			}
			return cutStatus(bytes.TrimRight(cut, " ")), true
		}
		rest = bytes.TrimRight(rest[:max(i, 0)], " ")
	}
	return text, false
}

// cutStatus cuts "status=X pl = X" off, if it is there.
func cutStatus(text []byte) []byte {
	i := bytes.LastIndex(text, []byte("status="))
	if i < 0 || bytes.Count(text[i:], []byte{' '}) > 3 || bytes.IndexByte(text[i:], '"') >= 0 {
		return text
	}
	return text[:i]
}

// whole reports whether a line is not cut off: it ends with the debugging
// output.
func whole(text []byte) bool {
	text = bytes.TrimRight(text, " \r")
	for _, word := range []string{"JUMBO", "LONGPACKET"} {
		text = bytes.TrimSuffix(text, []byte(word))
	}
	_, ok := cutDebug(bytes.TrimRight(text, " "))
	return ok
}

// appendHandle appends the bytes of a file handle.
func appendHandle(dst, word []byte) ([]byte, bool) {
	if len(word) == 0 || len(word)%2 != 0 {
		return dst, false
	}
	for i := 0; i < len(word); i += 2 {
		hi, lo := digits[word[i]], digits[word[i+1]]
		if hi < 0 || lo < 0 {
			return dst, false
		}
		dst = append(dst, byte(hi)<<4|byte(lo))
	}
	return dst, true
}

// appendName appends the bytes of a name in quotes, in which a backslash comes
// before two hexadecimal digits.
func appendName(dst, word []byte) ([]byte, bool) {
	if len(word) < 2 || word[0] != '"' || word[len(word)-1] != '"' {
		return dst, false
	}
	word = word[1 : len(word)-1]
	for {
		i := bytes.IndexByte(word, '\\')
		if i < 0 {
			return append(dst, word...), true
		}
		if len(word) < i+3 || digits[word[i+1]] < 0 || digits[word[i+2]] < 0 {
			return dst, false
		}
		dst = append(dst, word[:i]...)
		dst = append(dst, byte(digits[word[i+1]])<<4|byte(digits[word[i+2]]))
		word = word[i+3:]
	}
}

// nameLength returns the length of a name in quotes.
func nameLength(word []byte) (uint64, bool) {
	if len(word) < 2 || word[0] != '"' || word[len(word)-1] != '"' {
		return 0, false
	}
	return uint64(len(word) - 2 - 2*bytes.Count(word, []byte{'\\'})), true
}
