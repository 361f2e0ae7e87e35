package exp

import (
	"io"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

const trace = `10.000000 Open READ FID: 1 OFF: 0 SIZE: 0 HOST: 3
12.500000 Close READ FID: 1 OFF: 0 SIZE: 0 HOST: 3
nonsense
9.500000 Attr READ FID: 2 OFF: 0 SIZE: 0 HOST: 3
`

func TestLoad(t *testing.T) {
	src := traces.Bytes("small", []byte(trace), traces.Options{SkipUnknown: true})
	l, err := NewLoad("name", src, 4096, false, "its limits")
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Notes) != 3 || l.Notes[0] != "its limits" ||
		l.Notes[1] != `lines skipped: 1, the first: small:3: expected a time in seconds, found "nonsense".` ||
		!strings.Contains(l.Notes[2], "out of order by more than 1s, and given a later time: 1.") {
		t.Errorf("notes %q", l.Notes)
	}
	for _, perOperation := range []bool{false, true} {
		l.PerOperation = perOperation
		for range 2 { // a load can be replayed again
			if n, want := events(t, l), map[bool]int{false: 6, true: 9}[perOperation]; n != want {
				t.Errorf("per operation %v: %d events, want %d", perOperation, n, want)
			}
		}
	}
	if _, err := NewLoad("name", src, 1000, false); err == nil {
		t.Error("blocks of 1000 bytes are no error")
	}
}

func events(t *testing.T, l *Load) int {
	in, err := l.Events()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for n := 0; ; n++ {
		if _, err := in.Next(); err == io.EOF {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
