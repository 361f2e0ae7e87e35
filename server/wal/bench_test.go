package wal

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkAppend makes groups of 4 KiB blocks durable: by Disk, and for
// comparison by a bare append and fsync of as many bytes to one file.
func BenchmarkAppend(b *testing.B) {
	for _, group := range []int{1, 16, 256} {
		payload := make([]byte, group*4096)
		for i := range payload {
			payload[i] = byte(i)
		}
		run := func(name string, appendOne func() error) {
			b.Run(fmt.Sprintf("%s/group=%d", name, group), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(payload)))
				for b.Loop() {
					if err := appendOne(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(group*b.N)/b.Elapsed().Seconds(), "blocks/s")
			})
		}
		d, _, err := Open(b.TempDir(), testStore, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := d.Fence(1); err != nil {
			b.Fatal(err)
		}
		run("disk", func() error { _, err := d.Append(payload); return err })
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
		if err != nil {
			b.Fatal(err)
		}
		run("raw", func() error {
			if _, err := f.Write(payload); err != nil {
				return err
			}
			return f.Sync()
		})
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify checks a log of 64 MiB in entries of 64 KiB.
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	d, _, err := Open(dir, testStore, Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := d.Fence(1); err != nil {
		b.Fatal(err)
	}
	for range 1024 {
		if _, err := d.Append(make([]byte, 64<<10)); err != nil {
			b.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(64 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(dir, testStore); err != nil {
			b.Fatal(err)
		}
	}
}
