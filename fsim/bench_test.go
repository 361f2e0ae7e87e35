package fsim

import (
	"fmt"
	"testing"
)

func benchFile(b *testing.B, blocks int) (*FS, *MemTx, Handle) {
	fs, tx := mkfs(b, Geometry{Blocks: 1 << 14})
	h := must(fs.Create(tx, fs.Root(), "f", File, 3, 0))(b)
	ok(b, fs.Write(tx, h, 0, pattern(blocks*4096, 1), 0))
	b.ReportAllocs()
	b.ResetTimer()
	return fs, tx, h
}

func BenchmarkStat(b *testing.B) {
	fs, tx, h := benchFile(b, 1)
	for b.Loop() {
		if _, err := fs.Stat(tx, h); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead4K(b *testing.B) {
	for name, fb := range map[string]int64{"direct": 0, "indirect": 100, "double": 1100} {
		b.Run(name, func(b *testing.B) {
			fs, tx, h := benchFile(b, 1200)
			p := make([]byte, 4096)
			b.SetBytes(4096)
			for b.Loop() {
				if _, err := fs.Read(tx, h, fb*4096, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkOverwrite4K(b *testing.B) {
	fs, tx, h := benchFile(b, 1)
	data := pattern(4096, 2)
	for b.Loop() {
		if err := fs.Write(tx, h, 0, data, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLookupIn5000(b *testing.B) {
	fs, tx := mkfs(b, Geometry{Blocks: 1 << 16})
	for i := range 5000 {
		must(fs.Create(tx, fs.Root(), fmt.Sprintf("file-%011d", i), File, uint32(i), 0))(b)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fs.Lookup(tx, fs.Root(), "file-00000004999"); err != nil {
			b.Fatal(err)
		}
	}
}

// The paths of a replay's reads do not allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	fs, tx := mkfs(t, Geometry{Blocks: 1 << 14})
	h := must(fs.Create(tx, fs.Root(), "f", File, 3, 0))(t)
	ok(t, fs.Write(tx, h, 0, pattern(1200*4096, 1), 0))
	p := make([]byte, 4096)
	for name, run := range map[string]func(){
		"stat":          func() { ok(t, second(fs.Stat(tx, h))) },
		"read direct":   func() { ok(t, second(fs.Read(tx, h, 0, p))) },
		"read indirect": func() { ok(t, second(fs.Read(tx, h, 1100*4096, p))) },
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func second[T any](_ T, err error) error { return err }
