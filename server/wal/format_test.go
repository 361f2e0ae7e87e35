package wal

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden log in testdata")

func TestGoldenLog(t *testing.T) {
	img := pristine(t, 7)
	for name, b := range img {
		path := filepath.Join("testdata", name+".hex")
		if *rewrite {
			if err := os.WriteFile(path, []byte(hex.EncodeToString(b)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(b); got != strings.TrimSpace(string(text)) {
			t.Errorf("%s is %s, golden bytes are %s", name, got, text)
		}
	}
}

func TestOpenEntryRefuses(t *testing.T) {
	good, crc := appendEntry(nil, header{store: testStore, epoch: 4, index: 9, prev: 77}, []byte("payload"))
	h, p, err := openEntry(good, 9)
	if err != nil || string(p) != "payload" || h != (header{1, testStore, 4, 9, 7, 77, crc}) {
		t.Fatalf("got %+v, %q, %v", h, p, err)
	}
	for at := range good {
		b := bytes.Clone(good)
		b[at] ^= 1
		if _, _, err := openEntry(b, 9); err == nil {
			t.Errorf("flip at %d goes unnoticed", at)
		}
		if _, _, err := openEntry(good[:at], 9); err == nil {
			t.Errorf("cut at %d goes unnoticed", at)
		}
	}
	if _, _, err := openEntry(good, 10); err == nil {
		t.Error("entry 9 passes for entry 10")
	}
}
