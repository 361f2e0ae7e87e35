package traces

import (
	"errors"
	"strings"
	"testing"
)

func TestParseRealLine(t *testing.T) {
	// The one line of the genuine trace that is publicly quoted.
	const line = "748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896 SIZE: 4096 HOST: 1066"
	op, err := ParseAuspex([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	want := Op{Time: 748521923402318, Type: Block, Action: Read, FID: 0x5e1e000000004d79, Off: 1744896, Size: 4096, Host: 1066}
	if op != want {
		t.Errorf("got %+v, want %+v", op, want)
	}
	if op.String() != line {
		t.Errorf("printed as %q", op.String())
	}
}

func TestParseTolerates(t *testing.T) {
	want := Op{Time: 1_500_000, Type: Attr, FID: 0xab, Host: 7}
	for name, line := range map[string]string{
		"plain":                  "1.5 Attr READ FID: 00000000000000ab OFF: 0 SIZE: 0 HOST: 7",
		"short FID, upper case":  "1.5 Attr READ FID: AB OFF: 0 SIZE: 0 HOST: 7",
		"blanks":                 " \t1.5   Attr READ\tFID: ab OFF:  0 SIZE: 0 HOST: 7 \t ",
		"carriage return":        "1.5 Attr READ FID: ab OFF: 0 SIZE: 0 HOST: 7\r",
		"more than six decimals": "1.5000009 Attr READ FID: ab OFF: 0 SIZE: 0 HOST: 7",
		"leading zeros":          "0001.5 Attr READ FID: ab OFF: 000 SIZE: 00 HOST: 07",
	} {
		if op, err := ParseAuspex([]byte(line)); err != nil || op != want {
			t.Errorf("%s: got %+v, %v", name, op, err)
		}
	}
}

func TestParseTimesAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0":                   0,
		"0.000001":            1,
		"1063931188.1":        1063931188_100000,
		"1063931188.266109":   1063931188_266109,
		"4503599627.370497":   4503599627_370497,
		"253402300799.999999": MaxTime,
		// Beyond 2^53 microseconds a float could not tell neighbours apart.
		"9007199254.740993": 9007199254_740993,
	} {
		op, err := ParseAuspex([]byte(text + " Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1"))
		if err != nil || op.Time != want {
			t.Errorf("%s: got %d, %v, want %d", text, op.Time, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for line, reason := range map[string]string{
		"1":                                  "expected a type of operation, found the end of the line",
		"x Attr READ":                        `expected a time in seconds, found "x"`,
		"-1 Attr READ":                       `expected a time in seconds, found "-1"`,
		"1e3 Attr READ":                      `expected a time in seconds, found "1e3"`,
		"1. Attr READ":                       `expected a time in seconds, found "1."`,
		".5 Attr READ":                       `expected a time in seconds, found ".5"`,
		"1.2.3 Attr READ":                    `expected a time in seconds, found "1.2.3"`,
		"NaN Attr READ":                      `expected a time in seconds, found "NaN"`,
		"9223372036854.775808 Attr":          `expected a time in seconds, found "9223372036854.775808"`,
		"99999999999999999999 Attr":          `expected a time in seconds, found "99999999999999999999"`,
		"1 attr READ":                        `expected a type of operation, found "attr"`,
		"1 Rename READ":                      "expected FID:, found the end of the line",
		"1 Fsync READ":                       `expected a type of operation, found "Fsync"`,
		"1 Attr Read":                        `expected READ or WRITE, found "Read"`,
		"1 Attr READ FID":                    `expected FID:, found "FID"`,
		"1 Attr READ FID: xyz":               `expected 1 to 16 hexadecimal digits after FID:, found "xyz"`,
		"1 Attr READ FID: 0123456789abcdef0": `expected 1 to 16 hexadecimal digits after FID:, found "0123456789abcdef0"`,
		"1 Attr READ FID: 1 SIZE: 1":         `expected OFF:, found "SIZE:"`,
		"1 Attr READ FID: 1 OFF: -1":         `expected a number from 0 to 2^63-1 after OFF:, found "-1"`,
		"1 Attr READ FID: 1 OFF: 9223372036854775808":                       `expected a number from 0 to 2^63-1 after OFF:, found "9223372036854775808"`,
		"1 Attr READ FID: 1 OFF: 1 SIZE: +1":                                `expected a number from 0 to 2^63-1 after SIZE:, found "+1"`,
		"1 Attr READ FID: 1 OFF: 1 SIZE: 1 HOST: 4294967296":                `expected a number from 0 to 2^32-1 after HOST:, found "4294967296"`,
		"1 Attr READ FID: 1 OFF: 1 SIZE: 1 HOST:":                           "expected a number from 0 to 2^32-1 after HOST:, found the end of the line",
		"1 Attr READ FID: 1 OFF: 1 SIZE: 1 HOST: 1 x":                       `expected DIR: or the end of the line, found "x"`,
		"1 Attr READ FID: 1 OFF: 9223372036854775807 SIZE: 1 HOST: 1":       "OFF plus SIZE does not fit 63 bits",
		"1 Block READ FID: 1 OFF: 0 SIZE: 16777217 HOST: 1":                 "SIZE is over 16777216 bytes for one transfer",
		"253402300800 Attr READ FID: 1 OFF: 0 SIZE: 0 HOST: 1":              "time is after the year 9999",
		strings.Repeat("z", 100) + " Attr READ FID: 1 OFF: 0 SIZE: 0 HOST:": `expected a time in seconds, found "` + strings.Repeat("z", 32) + `"...`,
	} {
		_, err := ParseAuspex([]byte(line))
		var le *LineError
		if !errors.As(err, &le) || le.Error() != reason {
			t.Errorf("%q: got %v, want %s", line, err, reason)
		}
	}
}

func TestOpCheck(t *testing.T) {
	good := Op{Time: 1, Type: Block, Size: MaxTransfer}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Op){
		"no type":         func(o *Op) { o.Type = 0 },
		"type":            func(o *Op) { o.Type = Commit + 1 },
		"action":          func(o *Op) { o.Action = Write + 1 },
		"negative time":   func(o *Op) { o.Time = -1 },
		"late time":       func(o *Op) { o.Time = MaxTime + 1 },
		"negative offset": func(o *Op) { o.Off = -1 },
		"negative size":   func(o *Op) { o.Size = -1 },
		"overflow":        func(o *Op) { o.Off = 1<<63 - 1 },
		"transfer":        func(o *Op) { o.Size++ },
	} {
		op := good
		change(&op)
		var oe *OpError
		if err := op.Check(); !errors.As(err, &oe) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	line := []byte("748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896 SIZE: 4096 HOST: 1066")
	if n := testing.AllocsPerRun(100, func() {
		if _, err := ParseAuspex(line); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for each line", n)
	}
}

func FuzzParseAuspex(f *testing.F) {
	f.Add([]byte("748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896 SIZE: 4096 HOST: 1066"))
	f.Add([]byte("1 Dir WRITE FID: 0 OFF: 0 SIZE: 0 HOST: 4294967295\r"))
	f.Add([]byte("0.0000001 Open READ FID: ffffffffffffffff OFF: 9223372036854775807 SIZE: 0 HOST: 0"))
	f.Add([]byte("1. Close READ FID: OFF: SIZE: HOST:"))
	f.Add([]byte(`1 Create WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 DIR: 2 NAME: "a b\"\\\xff\u00e9"`))
	f.Add([]byte("1 Rename WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 DIR: 2 NAME: \"\xff\" TODIR: 3 TONAME: \"\t\"\t"))
	f.Fuzz(func(t *testing.T, line []byte) {
		op, err := ParseAuspex(line)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if err := op.Check(); err != nil {
			t.Fatalf("%q parsed to an impossible operation: %v", line, err)
		}
		text := AppendText(nil, op)
		again, err := ParseAuspex(text)
		if err != nil || !same(again, op) {
			t.Fatalf("%q printed as %q, which reads %+v, %v", line, text, again, err)
		}
		for _, c := range text {
			if c < ' ' || c == 0x7f {
				t.Fatalf("%q has a control character", text)
			}
		}
		for _, o := range ToAuspex(nil, op) {
			if again, err := ParseAuspex(AppendAuspex(nil, o)); err != nil || again != o || o.Type > Close {
				t.Fatalf("%q becomes %+v, which reads %+v, %v", line, o, again, err)
			}
		}
	})
}

// same reports whether two operations are alike, their places too.
func same(a, b Op) bool {
	p, q := a.Place, b.Place
	a.Place, b.Place = nil, nil
	return a == b && (p == nil) == (q == nil) && (p == nil || *p == *q)
}
