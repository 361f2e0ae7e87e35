package binary

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tidemark/tidemark/traces"
)

// FuzzReader reads whatever it is given. What can be read is written and read
// again.
func FuzzReader(f *testing.F) {
	data, _, starts := threeBlocks(f)
	f.Add(data, false)
	f.Add(data[starts[0]+blockHead:starts[1]], true)
	f.Add([]byte{sameHost | nextLine, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, payload bool) {
		if payload { // the checksum is no obstacle
			if len(data) > MaxPayload {
				return
			}
			var d decoder
			d.begin(data, uint32(len(data)))
			n := uint32(0)
			for op, ok := d.next(); ok && op.Check() == nil; op, ok = d.next() {
				n++
			}
			d.begin(data, uint32(len(data)))
			cut := n
			for range n {
				d.next()
			}
			data = forge(data[:len(data)-len(d.rest)], cut)
		}
		ops, err := decode(bytes.NewReader(data))
		var se *traces.StreamError
		if err != nil && !errors.As(err, &se) {
			t.Fatalf("untyped error %v", err)
		}
		again, err := decode(bytes.NewReader(encode(t, ops)))
		if len(ops) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		alike(t, again, ops)
	})
}

// FuzzWriter writes operations that are made of the input.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("748521923.402318 Block READ FID: 5e1e000000004d79 OFF: 1744896 SIZE: 4096 HOST: 1066\n" +
		"1 Rename WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 DIR: 2 NAME: \"a\" TODIR: 3 TONAME: \"b\"\n" +
		"1 Link WRITE FID: 1 OFF: 0 SIZE: 0 HOST: 1 DIR: 2 NAME: \"a\""))
	f.Fuzz(func(t *testing.T, lines []byte) {
		var ops []traces.Op
		in := traces.NewReader(bytes.NewReader(lines), "t", traces.Options{SkipUnknown: true})
		for op, err := range traces.All(in) {
			if err != nil {
				return
			}
			ops = append(ops, op)
		}
		if len(ops) == 0 {
			return
		}
		got, err := decode(bytes.NewReader(encode(t, ops)))
		if err != nil {
			t.Fatal(err)
		}
		alike(t, got, ops)
	})
}
