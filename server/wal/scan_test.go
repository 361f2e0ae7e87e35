package wal

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

// tornWith appends a torn entry with the given payload to the
// log in dir.
func tornWith(t *testing.T, dir string, body []byte) span {
	t.Helper()
	img := pristine(t, entries)
	end := last(img.spans())
	entry, _ := appendEntry(nil, header{store: testStore, epoch: 1, index: entries + 1}, append(body, 1))
	b := binary.AppendUvarint(bytes.Clone(img[end.segment]), uint64(len(entry)))
	b = append(b, entry[:len(entry)-1]...)
	img.with(end.segment, b).put(t, dir)
	return span{segment: end.segment, index: entries + 1, at: end.end}
}

func TestBlockDataThatLooksLikeEntries(t *testing.T) {
	entry := func(store occ.StoreID, epoch, index uint64) []byte {
		e, _ := appendEntry(nil, header{store: store, epoch: epoch, index: index}, []byte("inner"))
		return e
	}
	dir := t.TempDir()
	for name, body := range map[string][]byte{
		"older entry of this log": entry(testStore, 1, entries),
		"entry of another log":    entry(otherStore, 1, entries+1),
		"entry of the far future": entry(testStore, 1, 1<<40),
		"entry of an old epoch":   entry(testStore, 0, entries+1),
	} {
		t.Run(name, func(t *testing.T) { wantTorn(t, dir, tornWith(t, dir, body)) })
	}
	torn := tornWith(t, dir, entry(testStore, 1, entries+1))
	wantCorrupt(t, dir, torn.segment, torn.at, torn.index)
}

func TestForgedHeadersCostLinearTime(t *testing.T) {
	// 16 MiB of headers, each announcing a payload up to the end.
	const n = 16 << 20 / headerLen
	var body []byte
	for i := range n {
		e, _ := appendEntry(nil, header{store: testStore, epoch: 1, index: entries + 1}, nil)
		binary.LittleEndian.PutUint32(e[offLength:], uint32((n-i-1)*headerLen))
		body = append(body, e...)
	}
	dir := t.TempDir()
	torn := tornWith(t, dir, body[:MaxPayload-headerLen-1])
	wantCorrupt(t, dir, torn.segment, torn.at, torn.index)
}

func TestEntryAcrossScanWindows(t *testing.T) {
	// A whole entry is found wherever it lies against the scan's windows.
	img := pristine(t, 1)
	s := img.spans()[0]
	next, _ := appendEntry(nil, header{store: testStore, epoch: 1, index: 3}, []byte("x"))
	dir := t.TempDir()
	for shift := -2*headerLen - 5; shift < headerLen; shift++ {
		b := append(bytes.Clone(img[s.segment]), make([]byte, walkBuffer+shift)...)
		b = append(b, next...)
		img.with(s.segment, b).put(t, dir)
		_, err := Verify(dir, testStore)
		checkCorrupt(t, err, s.segment, s.end, 2)
	}
}
