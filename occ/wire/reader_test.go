package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// chunks gives its bytes in reads of random length.
type chunks struct {
	r *rand.Rand
	b []byte
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1+c.r.IntN(len(p))], c.b)
	c.b = c.b[n:]
	return n, nil
}

func rawFrame(body []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(body))), body...)
}

func TestReader(t *testing.T) {
	r := newRand(t)
	for range 30 {
		var stream []byte
		var want [][]byte
		for range 1 + r.IntN(50) {
			body := bytes.Repeat([]byte{byte(r.Uint32())}, 1+r.IntN(1<<r.IntN(19)))
			want = append(want, body)
			stream = append(stream, rawFrame(body)...)
		}
		cut := len(stream)
		if r.IntN(2) == 0 {
			cut = r.IntN(len(stream))
		}
		rd := NewReader(&chunks{r, stream[:cut]}, 1<<20)
		used := 0
		for i := 0; ; i++ {
			body, err := rd.Next()
			if err != nil {
				wantErr := io.EOF
				if used != cut {
					wantErr = io.ErrUnexpectedEOF
				}
				if err != wantErr {
					t.Fatalf("after %d of %d bytes: %v, want %v", used, cut, err, wantErr)
				}
				if _, again := rd.Next(); again != err {
					t.Fatalf("the next call gives %v", again)
				}
				break
			}
			if !bytes.Equal(body, want[i]) {
				t.Fatalf("frame %d differs", i)
			}
			used += len(rawFrame(body))
		}
	}
}

// The whole frames that one read brought are handed out without another.
func TestReaderBuffered(t *testing.T) {
	stream := append(rawFrame([]byte("one")), rawFrame([]byte("two"))...)
	reads := 0
	rd := NewReader(readerFunc(func(p []byte) (int, error) {
		reads++
		switch reads {
		case 1:
			return copy(p, stream[:6]), nil // the second frame is not whole
		case 2:
			return copy(p, stream[6:]), io.EOF
		}
		t.Fatal("read again after the end")
		return 0, nil
	}), 100)
	for _, want := range []struct {
		body           string
		reads, waiting int
	}{{"one", 1, 0}, {"two", 2, 0}} {
		body, err := rd.Next()
		if err != nil || string(body) != want.body || reads != want.reads || rd.Buffered() != want.waiting {
			t.Fatalf("%q, %v after %d reads, %d buffered; want %+v", body, err, reads, rd.Buffered(), want)
		}
	}
	if _, err := rd.Next(); err != io.EOF {
		t.Fatalf("at the end: %v", err)
	}

	rd = NewReader(bytes.NewReader(append(stream, stream...)), 100)
	n := 1
	for rd.Next(); rd.Buffered() > 0; n++ {
		if _, err := rd.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n != 4 {
		t.Errorf("%d frames came out of one read, want 4", n)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	var tooLarge *FrameTooLargeError
	var malformed *DecodeError
	for name, c := range map[string]struct {
		r    io.Reader
		want func(error) bool
	}{
		"empty":     {bytes.NewReader(nil), func(err error) bool { return err == io.EOF }},
		"torn":      {bytes.NewReader([]byte{3, 1}), func(err error) bool { return err == io.ErrUnexpectedEOF }},
		"torn size": {bytes.NewReader([]byte{0x83}), func(err error) bool { return err == io.ErrUnexpectedEOF }},
		"broken":    {iotest.ErrReader(broken), func(err error) bool { return err == broken }},
		"too large": {bytes.NewReader([]byte{101}), func(err error) bool {
			return errors.Is(err, ErrFrameTooLarge) && errors.As(err, &tooLarge) && tooLarge.Limit == 100 && tooLarge.Value == 101
		}},
		"size 0":   {bytes.NewReader([]byte{0}), func(err error) bool { return errors.As(err, &malformed) }},
		"overlong": {bytes.NewReader([]byte{0x81, 0}), func(err error) bool { return errors.As(err, &malformed) }},
		"silent": {readerFunc(func([]byte) (int, error) { return 0, nil }), func(err error) bool {
			return err == io.ErrNoProgress
		}},
	} {
		rd := NewReader(c.r, 100)
		for range 2 {
			if body, err := rd.Next(); body != nil || !c.want(err) {
				t.Errorf("%s: %x, %v", name, body, err)
			}
		}
	}
}

// A length costs nothing until the bytes arrive, and a large frame leaves no
// large buffer behind.
func TestReaderMemory(t *testing.T) {
	hostile := append(binary.AppendUvarint(nil, MaxFrame), make([]byte, 100)...)
	rd := NewReader(bytes.NewReader(hostile), MaxFrame)
	if _, err := rd.Next(); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
	if len(rd.buf) > readerBytes {
		t.Errorf("100 bytes take a buffer of %d", len(rd.buf))
	}

	large := rawFrame(make([]byte, 5<<20))
	stream := append(append(bytes.Clone(large), large...), bytes.Repeat(rawFrame([]byte("small")), readerBytes)...)
	rd = NewReader(bytes.NewReader(stream), MaxFrame)
	for range 2 {
		if body, err := rd.Next(); err != nil || len(body) != 5<<20 {
			t.Fatal(len(body), err)
		}
		if len(rd.buf) > 2*len(large) {
			t.Errorf("a frame of %d bytes takes a buffer of %d", len(large), len(rd.buf))
		}
	}
	for {
		body, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil || string(body) != "small" {
			t.Fatalf("%q, %v", body, err)
		}
	}
	if len(rd.buf) != readerBytes {
		t.Errorf("a buffer of %d is left", len(rd.buf))
	}
}

func TestSplitFrame(t *testing.T) {
	buf := append(rawFrame([]byte("one")), rawFrame([]byte("two"))...)
	for n := range buf {
		body, rest, err := SplitFrame(buf[:n], 3)
		if whole := n >= 4; err != nil || (body != nil) != whole {
			t.Errorf("%d bytes: body %q, %v", n, body, err)
		} else if !whole && len(rest) != n || whole && (string(body) != "one" || len(rest) != n-4) {
			t.Errorf("%d bytes: body %q, rest %q", n, body, rest)
		}
	}
	if _, _, err := SplitFrame(binary.AppendUvarint(nil, 1<<63), 1<<20); !errors.Is(err, ErrFrameTooLarge) {
		t.Errorf("2^63 bytes: %v", err)
	}
}
