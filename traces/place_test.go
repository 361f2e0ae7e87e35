package traces

import (
	"fmt"
	"strings"
	"testing"
)

// TestNamesSurvive prints and parses names of every byte and of awkward ones.
func TestNamesSurvive(t *testing.T) {
	names := []string{"a", "to do.txt", `"`, `\`, `\"`, `" TODIR: 1 TONAME: "x`, "\r", "a\nb", "caf\u00e9", "\u2028", "\ufffd", "\xff\xfe", "...", "\u65e5\u672c",
		strings.Repeat("\xff", MaxName), strings.Repeat("\x01", MaxName), strings.Repeat("\"", MaxName), strings.Repeat("\U0001f600", MaxName/4)}
	for b := 1; b < 256; b++ {
		if b != '/' && b != '.' {
			names = append(names, string([]byte{byte(b)}), string([]byte{'.', byte(b), 'z'}))
		}
	}
	for _, name := range names {
		for _, op := range []Op{
			{Time: MaxTime, Type: Create, Action: Write, FID: 1<<64 - 1, Host: 1<<32 - 1, Place: &Place{Dir: 1<<64 - 1, Name: name}},
			{Type: Rename, Action: Write, Off: 1<<63 - 1, Place: &Place{Dir: 1, Name: name, ToDir: 1<<64 - 1, ToName: name}},
		} {
			line := AppendText(nil, op)
			if len(line) > MaxLine || strings.ContainsAny(string(line), "\n\r") {
				t.Errorf("%q is no line", line)
			}
			if got, err := ParseAuspex(line); err != nil || !same(got, op) {
				t.Errorf("%s reads %+v, %v", line, got, err)
			}
		}
	}
}

func TestPlaceTolerates(t *testing.T) {
	want := Place{Dir: 0x2a, Name: "a b", ToDir: 0x2b, ToName: "caf\xe9"}
	for _, words := range []string{
		`DIR: 2a NAME: "a b" TODIR: 2b TONAME: "caf\xe9"`,
		"\tDIR:  2A\tNAME:   \"a\\u0020b\"  TODIR: 000002b TONAME: \"caf\xe9\" \r",
	} {
		op, err := ParseAuspex([]byte("1 Rename WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 " + words))
		if err != nil || *op.Place != want {
			t.Errorf("%q: got %+v, %v", words, op.Place, err)
		}
	}
}

func TestPlaceRefuses(t *testing.T) {
	for words, reason := range map[string]string{
		"":                     "a Rename needs a directory and a name",
		"NAME:":                `expected DIR: or the end of the line, found "NAME:"`,
		"DIR:":                 "expected 1 to 16 hexadecimal digits after DIR:, found the end of the line",
		"DIR: x":               `expected 1 to 16 hexadecimal digits after DIR:, found "x"`,
		"DIR: 1 x":             `expected NAME:, found "x"`,
		"DIR: 1 NAME:":         "expected a name in quotation marks after NAME:, found the end of the line",
		"DIR: 1 NAME: a":       `expected a name in quotation marks after NAME:, found "a"`,
		`DIR: 1 NAME: "a`:      `expected a name in quotation marks after NAME:, found "\"a"`,
		`DIR: 1 NAME: "a\"`:    `expected a name in quotation marks after NAME:, found "\"a\\\""`,
		`DIR: 1 NAME: "\q"`:    `expected a name in quotation marks after NAME:, found "\"\\q\""`,
		`DIR: 1 NAME: "a"b`:    `expected a name in quotation marks after NAME:, found "\"a\"b"`,
		`DIR: 1 NAME: ""`:      `impossible name ""`,
		`DIR: 1 NAME: "a/b"`:   `impossible name "a/b"`,
		`DIR: 1 NAME: "\x00"`:  `impossible name "\x00"`,
		`DIR: 1 NAME: ".."`:    `impossible name ".."`,
		`DIR: 1 NAME: "a" x`:   `expected the end of the line, found "x"`,
		`DIR: 1 NAME: "a"`:     `impossible name ""`, // of TONAME
		`DIR: 1 NAME: "a" DIR`: `expected the end of the line, found "DIR"`,
		`DIR: 1 NAME: "a" TODIR: 1 TONAME: "b" x`: `expected the end of the line, found "x"`,
	} {
		_, err := ParseAuspex([]byte("1 Rename WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 " + words))
		if err == nil || err.Error() != reason {
			t.Errorf("%s: got %v, want %s", words, err, reason)
		}
	}
}

func TestToAuspex(t *testing.T) {
	const at = "FID: 1 OFF: 5 SIZE: 6 HOST: 7"
	const named, renamed = ` DIR: 2 NAME: "n"`, ` DIR: 2 NAME: "n" TODIR: 3 TONAME: "m"`
	for line, want := range map[string][]string{
		"Block WRITE " + at:                                    {"Block WRITE 1 5 6"},
		"Open READ " + at + named:                              {"Open READ 1 5 6"},
		"Lookup READ " + at + named:                            {"Attr READ 1 0 0"},
		"Create WRITE " + at + named:                           {"Attr WRITE 1 0 0"},
		"Symlink WRITE " + at:                                  {"Attr WRITE 1 0 0"},
		"Truncate WRITE " + at:                                 {"Attr WRITE 1 0 0"},
		"Mkdir WRITE " + at + named:                            {"Dir WRITE 2 0 0"},
		"Mkdir WRITE " + at:                                    {"Dir WRITE 1 0 0"},
		"Rmdir WRITE " + at + named:                            {"Delete WRITE 1 0 0"},
		"Link WRITE " + at + named:                             {"Attr WRITE 1 0 0", "Dir WRITE 2 0 0"},
		"Rename WRITE " + at + renamed:                         {"Dir WRITE 2 0 0", "Dir WRITE 3 0 0"},
		"Commit WRITE " + at:                                   nil,
		"Rename WRITE " + at + named + ` TODIR: 2 TONAME: "m"`: {"Dir WRITE 2 0 0"},
	} {
		op, err := ParseAuspex([]byte("1 " + line))
		if err != nil {
			t.Fatal(err)
		}
		op.Line = 9
		got := ToAuspex(nil, op)
		if len(got) != len(want) {
			t.Errorf("%s becomes %v", line, got)
			continue
		}
		for i, o := range got {
			short := fmt.Sprintf("%v %v %x %d %d", o.Type, o.Action, uint64(o.FID), o.Off, o.Size)
			if short != want[i] || o.Time != op.Time || o.Host != 7 || o.Line != 9 || o.Place != nil {
				t.Errorf("%s becomes %+v, want %s", line, o, want[i])
			}
		}
	}
}
