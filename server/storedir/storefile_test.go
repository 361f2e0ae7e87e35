package storedir

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/occ"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden store file in testdata")

func TestDamagedStoreFile(t *testing.T) {
	path := t.TempDir()
	name := filepath.Join(path, storeName)
	good := storeFile{store: occ.StoreID{1}, blockSize: 4096, epoch: 3}.encode()
	put := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check := func(b []byte) {
		t.Helper()
		put(b)
		refused(t, path, Options{}, ErrDamaged)
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, b) {
			t.Fatal("a damaged store file was changed")
		}
	}
	for cut := range good {
		check(good[:cut])
	}
	check(append(bytes.Clone(good), 0))
	check(make([]byte, 1<<20))
	for at := range good {
		if at >= offVersion && at < offStore {
			continue // another version; see below
		}
		b := bytes.Clone(good)
		b[at] ^= 0x10
		check(b)
	}
	newer := append(bytes.Clone(good), "more than we know"...)
	binary.LittleEndian.PutUint32(newer[offVersion:], 7)
	put(newer)
	var v *VersionError
	if _, err := Open(path, Options{}); !errors.As(err, &v) || v.Version != 7 {
		t.Errorf("got %v, want version 7", err)
	}
	put(good)
	if d := mustOpen(t, path, Options{}); d.Epoch() != 3 {
		t.Errorf("epoch %d", d.Epoch())
	}
}

func TestGoldenStoreFile(t *testing.T) {
	s := storeFile{
		store:     occ.StoreID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		blockSize: 4096, epoch: 0x0102030405060708,
	}
	path := filepath.Join("testdata", "store.hex")
	if *rewrite {
		if err := os.WriteFile(path, []byte(hex.EncodeToString(s.encode())+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.encode(), golden) {
		t.Errorf("store file is %x, golden bytes are %x", s.encode(), golden)
	}
	if back, err := decodeStoreFile(golden); err != nil || back != s {
		t.Errorf("decoded %+v, %v", back, err)
	}
}

func FuzzDecodeStoreFile(f *testing.F) {
	f.Add(storeFile{blockSize: 4096}.encode())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeStoreFile(b)
		var v *VersionError
		switch {
		case err == nil && !bytes.Equal(s.encode(), b):
			t.Fatalf("%x decodes, but encodes as %x", b, s.encode())
		case err != nil && !errors.Is(err, ErrDamaged) && !errors.As(err, &v):
			t.Fatalf("untyped error %v", err)
		}
	})
}

// TestWrittenUnder: a store file that is older than what was written is told
// by its path, and not by an epoch that was taken but not used.
func TestWrittenUnder(t *testing.T) {
	path := t.TempDir()
	d := mustOpen(t, path, Options{})
	for range 2 {
		if _, err := d.NextEpoch(); err != nil {
			t.Fatal(err)
		}
	}
	for epoch := range uint64(3) {
		if err := d.WrittenUnder(epoch); err != nil {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
	err := d.WrittenUnder(3)
	if want := filepath.Join(path, storeName) + " has epoch 2, and something was written under epoch 3"; !errors.Is(err, ErrOlder) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("epoch 3: %v", err)
	}
}
