package binary

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tidemark/tidemark/traces"
)

// threeBlocks returns a file of three blocks, its operations, and where its
// blocks and its end begin.
func threeBlocks(t testing.TB) (data []byte, ops []traces.Op, starts []int) {
	var out bytes.Buffer
	w, err := NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range random(7, 30) {
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
		if ops = append(ops, op); len(ops)%10 == 0 {
			starts = append(starts, out.Len())
			w.flush()
		}
	}
	starts = append(starts, out.Len())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), ops, starts
}

// TestEveryDamageIsNoticed changes every byte in turn. What is read before
// must be right, and the message must name the place.
func TestEveryDamageIsNoticed(t *testing.T) {
	data, ops, starts := threeBlocks(t)
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		got, err := decode(bytes.NewReader(bad))
		var se *traces.StreamError
		if !errors.As(err, &se) || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCut) {
			t.Fatalf("byte %d: got %v", i, err)
		}
		where, whole := "header", 0
		for n, start := range starts {
			if i >= start {
				where, whole = fmt.Sprintf("block %d at byte %d", n, start), n
			}
		}
		if !strings.HasPrefix(se.Detail, where) {
			t.Errorf("byte %d is in %s, but: %v", i, where, err)
		}
		alike(t, got, ops[:whole*10])
	}
}

func TestEveryCutIsNoticed(t *testing.T) {
	data, ops, starts := threeBlocks(t)
	for n := range data {
		got, err := decode(bytes.NewReader(data[:n]))
		if !errors.Is(err, ErrCut) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(data), err)
		}
		whole := 0
		for whole < len(starts)-1 && n >= starts[whole+1] {
			whole++
		}
		alike(t, got, ops[:whole*10])
	}
}

// TestBlocksHaveTheirPlace moves whole blocks about.
func TestBlocksHaveTheirPlace(t *testing.T) {
	data, _, s := threeBlocks(t)
	head, a, b, c, end := data[:s[0]], data[s[0]:s[1]], data[s[1]:s[2]], data[s[2]:s[3]], data[s[3]:]
	for name, parts := range map[string][][]byte{
		"missing":      {head, a, c, end},
		"first gone":   {head, b, c, end},
		"last gone":    {head, a, b, end},
		"repeated":     {head, a, a, b, c, end},
		"exchanged":    {head, b, a, c, end},
		"two ends":     {head, a, b, c, end, end},
		"another file": {head, a, b, c, end, data},
		"rubbish":      {head, a, b, c, end, {0}},
	} {
		if _, err := decode(bytes.NewReader(bytes.Join(parts, nil))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// forge returns a file of one block with a right checksum.
func forge(payload []byte, count uint32) []byte {
	data := encodeNothing()
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))
	head = binary.LittleEndian.AppendUint32(head, count)
	data = append(data, head...)
	data = binary.LittleEndian.AppendUint32(data, checksum(0, head, payload))
	return append(data, payload...)
}

func encodeNothing() []byte {
	var out bytes.Buffer
	if _, err := NewWriter(&out); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// TestForgedBlocks reads blocks that are wrong and have the right checksum.
func TestForgedBlocks(t *testing.T) {
	op := []byte{sameHost | nextLine, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if _, err := decode(bytes.NewReader(forge(op, 1))); !errors.Is(err, ErrCut) { // the end is missing
		t.Fatalf("a right block: %v", err)
	}
	change := func(at int, to ...byte) []byte {
		return append(append(bytes.Clone(op[:at]), to...), op[at+len(to):]...)
	}
	long := bytes.Repeat([]byte{0xff}, 11)
	for name, c := range map[string]struct {
		payload []byte
		count   uint32
	}{
		"kind":               {change(0, kinds|sameHost|nextLine), 1},
		"time before 1970":   {change(1, 3), 1},
		"handle":             {change(2, 1), 1},
		"negative offset":    {change(11, 1), 1},
		"endless varint":     {append(bytes.Clone(op[:1]), long...), 1},
		"more than is there": {append(bytes.Clone(op), op...), 3},
		"less than is there": {append(bytes.Clone(op), op...), 1},
		"impossible count":   {op, 3},
		"no count":           {op, 0},
		"place":              {append(change(0, sameHost|nextLine|hasPlace), 1), 1},
		"long name":          {append(change(0, sameHost|nextLine|hasPlace), 0, 0, 0x80, 0x02), 1},
		"name beyond":        {append(change(0, sameHost|nextLine|hasPlace), 0, 0, 9, 'a'), 1},
		"name of nothing":    {append(change(0, sameHost|nextLine|hasPlace), 0, 0, 0), 1},
		"host":               {append([]byte{nextLine, 2, 0xff, 0xff, 0xff, 0xff, 0x1f}, op[2:]...), 1},
	} {
		_, err := decode(bytes.NewReader(forge(c.payload, c.count)))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "block 0 at byte 16") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestVersions(t *testing.T) {
	h := binary.LittleEndian.AppendUint32([]byte(magic), 2)
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	if _, err := decode(bytes.NewReader(h)); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("got %v", err)
	}
}

func TestIOErrorsPass(t *testing.T) {
	data, _, _ := threeBlocks(t)
	broken := errors.New("disk on fire")
	for _, n := range []int{0, 20, len(data) / 2, len(data) - 1, len(data)} {
		r := bytes.NewReader(data[:n])
		_, err := decode(multi{r, iotest.ErrReader(broken)})
		if !errors.Is(err, broken) {
			t.Errorf("after %d bytes: got %v", n, err)
		}
	}
}

type multi []interface{ Read([]byte) (int, error) }

func (m multi) Read(p []byte) (int, error) {
	if n, _ := m[0].Read(p); n > 0 {
		return n, nil
	}
	return m[1].Read(p)
}
