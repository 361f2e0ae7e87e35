package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// naive judges a log of one segment by trying every position. It returns the
// whole entries in front, where they end, and whether a whole entry that can
// belong to the log stands at or behind the first damage.
func naive(b []byte) (last uint64, end int, behind, misplaced bool) {
	var epoch uint64
	var prev uint32
	whole := func(e []byte) bool {
		return len(e) >= headerLen && bytes.HasPrefix(e, magic[:]) && len(e) <= maxEntry &&
			int(binary.LittleEndian.Uint32(e[offLength:])) == len(e)-headerLen &&
			binary.LittleEndian.Uint32(e[offCRC:]) == naiveChecksum(e)
	}
	for end < len(b) {
		n, p := binary.Uvarint(b[end:])
		if p <= 0 || n > uint64(len(b)-end-p) || len(binary.AppendUvarint(nil, n)) != p || !whole(b[end+p:end+p+int(n)]) {
			break
		}
		e := b[end+p : end+p+int(n)]
		h, _ := parseHeader(e)
		if h.version != 1 || h.store != testStore || h.index != last+1 || h.prev != prev || h.epoch < epoch {
			return last, end, false, true
		}
		last, epoch, prev = h.index, h.epoch, h.crc
		end += p + int(n)
	}
	for at := end; at+headerLen <= len(b); at++ {
		h, ok := parseHeader(b[at:])
		if !ok || h.store != testStore || h.epoch < epoch || h.index <= last ||
			h.index-last-1 > uint64((at-end)/headerLen) || int(h.length) > len(b)-at-headerLen {
			continue
		}
		if whole(b[at : at+headerLen+int(h.length)]) {
			return last, end, true, false
		}
	}
	return last, end, false, false
}

// FuzzVerify puts bytes into a segment as they are, or behind two whole
// entries, or over a log of several entries from an offset on, and compares
// the verdict with the naive one.
func FuzzVerify(f *testing.F) {
	var log []byte
	var prev uint32
	var cuts []int
	for i := range uint64(5) {
		e, crc := appendEntry(nil, header{store: testStore, epoch: 1 + i/2, index: i + 1, prev: prev}, payload(i+1))
		log = append(binary.AppendUvarint(log, uint64(len(e))), e...)
		prev, cuts = crc, append(cuts, len(log))
	}
	f.Add(log, uint8(0), uint16(0))
	f.Add(log[:cuts[3]+9], uint8(0), uint16(0))
	f.Add(log[cuts[1]:], uint8(1), uint16(0))
	f.Add(log[cuts[2]:], uint8(1), uint16(0))
	f.Add(append(make([]byte, 70), log[cuts[2]:]...), uint8(1), uint16(0))
	f.Add(make([]byte, 100), uint8(1), uint16(0))
	f.Add([]byte{0xff}, uint8(2), uint16(cuts[2]+20))
	f.Add([]byte{0xff}, uint8(2), uint16(cuts[3]))
	f.Add([]byte{0xff}, uint8(2), uint16(len(log)-1))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint8(1), uint16(0))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte, how uint8, at uint16) {
		segment := bytes.Clone(b)
		switch how % 3 {
		case 1:
			segment = append(bytes.Clone(log[:cuts[1]]), b...)
		case 2:
			segment = bytes.Clone(log)
			copy(segment[int(at)%len(log):], b)
		}
		path := filepath.Join(dir, segmentName(1))
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, segment, 0o600); err != nil {
			t.Fatal(err)
		}
		last, end, behind, misplaced := naive(segment)
		report, err := Verify(dir, testStore)
		var corrupt *CorruptError
		var version *VersionError
		var store *StoreError
		switch {
		case misplaced:
			if !errors.As(err, &corrupt) && !errors.As(err, &version) && !errors.As(err, &store) {
				t.Fatalf("got %v for a whole entry that does not belong", err)
			}
		case behind:
			if !errors.As(err, &corrupt) || corrupt.Offset != int64(end) || corrupt.Index != last+1 {
				t.Fatalf("got %v, want corruption at %d, entry %d", err, end, last+1)
			}
		case err != nil:
			t.Fatal(err)
		case report.Last != last || (report.Torn == nil) != (end == len(segment)):
			t.Fatalf("got %+v, want entries up to %d, offset %d of %d", report, last, end, len(segment))
		case report.Torn != nil && report.Torn.Offset != int64(end):
			t.Fatalf("torn at %d, want %d", report.Torn.Offset, end)
		}
	})
}
