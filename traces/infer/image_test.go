package infer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
)

// checkImage is what any image must satisfy.
func checkImage(img *Image) error {
	blocks, dirs := int64(0), 0
	for i, f := range img.Files {
		if i > 0 && f.FID <= img.Files[i-1].FID {
			return fmt.Errorf("file %s out of order", f.FID)
		}
		if f.Dir {
			dirs++
			if len(f.Extents) > 0 {
				return fmt.Errorf("directory %s has blocks", f.FID)
			}
			continue
		}
		end := int64(-1)
		for _, x := range f.Extents {
			if x.Count < 1 || x.First <= end {
				return fmt.Errorf("file %s: bad extents %v", f.FID, f.Extents)
			}
			end = x.First + x.Count
			blocks += x.Count
		}
		if (f.Size-1)/img.BlockSize+min(f.Size, 1) != max(end, 0) {
			return fmt.Errorf("file %s: size %d with extents %v", f.FID, f.Size, f.Extents)
		}
	}
	if blocks != img.Blocks || dirs != img.Dirs {
		return fmt.Errorf("%d blocks and %d directories, found %d and %d", img.Blocks, img.Dirs, blocks, dirs)
	}
	return nil
}

// rangeTrace reads "type action file offset size", a second apart.
func rangeTrace(t *testing.T, lines ...string) []traces.Op {
	t.Helper()
	var ops []traces.Op
	for i, line := range lines {
		var typ, act, fid string
		var off, size int64
		if _, err := fmt.Sscan(line, &typ, &act, &fid, &off, &size); err != nil {
			t.Fatal(err)
		}
		op, err := traces.ParseAuspex(fmt.Appendf(nil, "%d %s %s FID: %s OFF: %d SIZE: %d HOST: %d", i+1, typ, act, fid, off, size, i%3))
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	return ops
}

func TestImage(t *testing.T) {
	type lines = []string
	for name, c := range map[string]struct {
		trace lines
		want  string // Files as printed
	}{
		"Attr READ first":           {lines{"Attr READ a 0 0"}, "[{a file 0 []}]"},
		"Attr WRITE first":          {lines{"Attr WRITE a 0 0", "Block READ a 0 10"}, "[]"},
		"Block READ first":          {lines{"Block READ a 512 10"}, "[{a file 522 [{1 1}]}]"},
		"Block WRITE first":         {lines{"Block WRITE a 0 10", "Block READ a 0 1000"}, "[]"},
		"Delete first":              {lines{"Delete WRITE a 0 0", "Block READ a 0 10"}, "[{a file 0 []}]"},
		"Open, then WRITE":          {lines{"Open READ a 99 0", "Block WRITE a 0 10", "Close READ a 0 0"}, "[]"},
		"Open, then READ":           {lines{"Open WRITE a 99 0", "Block READ a 0 10"}, "[{a file 10 [{0 1}]}]"},
		"Open and Close, WRITE":     {lines{"Open WRITE a 99 0", "Close READ a 0 0", "Block WRITE a 0 10"}, "[{a file 0 []}]"},
		"Close first":               {lines{"Close WRITE a 99 0", "Block WRITE a 0 10"}, "[{a file 0 []}]"},
		"only Open":                 {lines{"Open WRITE a 99 0"}, "[{a file 0 []}]"},
		"Dir READ first":            {lines{"Dir READ a 512 512"}, "[{a dir 1024 []}]"},
		"Dir WRITE first":           {lines{"Dir WRITE a 0 100", "Dir READ a 0 50"}, "[{a dir 100 []}]"},
		"Attr, then Dir":            {lines{"Attr READ a 0 0", "Dir READ a 0 50"}, "[{a dir 50 []}]"},
		"Dir, then Block":           {lines{"Dir READ a 0 50", "Block READ a 0 5000"}, "[{a dir 50 []}]"},
		"Block, then Dir":           {lines{"Block READ a 0 50", "Dir READ a 0 5000"}, "[{a file 50 [{0 1}]}]"},
		"size 0":                    {lines{"Block READ a 7000 0"}, "[{a file 0 []}]"},
		"runs":                      {lines{"Block READ a 1024 512", "Block READ a 0 100", "Block READ a 512 512", "Block READ a 5000 1"}, "[{a file 5001 [{0 3} {9 1}]}]"},
		"sorted by FID":             {lines{"Attr READ c 0 0", "Attr READ ffffffffffffffff 0 0", "Attr READ b 0 0"}, "[{b file 0 []} {c file 0 []} {ffffffffffffffff file 0 []}]"},
		"written before read":       {lines{"Attr READ a 0 0", "Block WRITE a 0 512", "Block READ a 0 512"}, "[{a file 0 []}]"},
		"read before written":       {lines{"Block READ a 0 512", "Block WRITE a 0 512", "Block READ a 0 512"}, "[{a file 512 [{0 1}]}]"},
		"reads beyond the write":    {lines{"Attr READ a 0 0", "Block WRITE a 0 512", "Block READ a 0 1024"}, "[{a file 1024 [{1 1}]}]"},
		"part written, that read":   {lines{"Attr READ a 0 0", "Block WRITE a 100 50", "Block WRITE a 150 50", "Block READ a 100 100"}, "[{a file 0 []}]"},
		"part written, more read":   {lines{"Attr READ a 0 0", "Block WRITE a 100 50", "Block READ a 100 51"}, "[{a file 151 [{0 1}]}]"},
		"parts with a gap":          {lines{"Attr READ a 0 0", "Block WRITE a 0 10", "Block WRITE a 100 50", "Block READ a 100 50"}, "[{a file 0 []}]"},
		"parts with a gap, shorter": {lines{"Attr READ a 0 0", "Block WRITE a 0 10", "Block WRITE a 100 50", "Block READ a 0 10"}, "[{a file 10 [{0 1}]}]"},
		"after Delete":              {lines{"Block READ a 0 10", "Delete READ a 0 0", "Block READ a 512 10", "Dir READ a 0 0"}, "[{a file 10 [{0 1}]}]"},
		"the far end":               {lines{"Block READ a 9223372036854775806 1"}, "[{a file 9223372036854775807 [{18014398509481983 1}]}]"},
	} {
		img, err := NewImage(traces.Slice(rangeTrace(t, c.trace...)), 512)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range img.Files {
			kind := "file"
			if f.Dir {
				kind = "dir"
			}
			got = append(got, fmt.Sprintf("{%x %s %d %v}", uint64(f.FID), kind, f.Size, f.Extents))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

func TestImageTakesLinesInOrderOfTime(t *testing.T) {
	ops := rangeTrace(t, "Block WRITE a 0 10", "Block READ a 0 10")
	ops[0].Time, ops[1].Time = 1_500_000, 1_000_000
	img, err := NewImage(traces.Slice(ops), 512)
	if err != nil || len(img.Files) != 1 || img.OutOfOrder != 1 {
		t.Errorf("got %+v, %v", img, err)
	}
}

func TestImageErrors(t *testing.T) {
	for _, size := range []int64{0, -512, 256, 1000, 2 << 20} {
		if _, err := NewImage(traces.Slice(nil), size); err == nil {
			t.Errorf("block size %d accepted", size)
		}
	}
	var oe *traces.OpError
	if _, err := NewImage(traces.Slice([]traces.Op{{Type: traces.Block, Size: -1}}), 512); !errors.As(err, &oe) {
		t.Errorf("impossible operation: %v", err)
	}
}

// TestImageTwin compares with one flag for every byte. Where every write
// begins at the start of a block the two agree; otherwise the image may only
// hold more.
func TestImageTwin(t *testing.T) {
	const blockSize = 512
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 4))
		aligned := seed%2 == 0
		ops := randomOps(rng, 1+rng.IntN(40))
		for i := range ops {
			if aligned && ops[i].Action == traces.Write {
				ops[i].Off -= ops[i].Off % blockSize
			}
			switch typ := ops[i].Type; {
			case typ == traces.Dir: // files only
				ops[i].Type = traces.Attr
			case ops[i].Place != nil: // places have a test of their own
				ops[i] = traces.Op{Time: ops[i].Time, FID: ops[i].FID, Type: traces.Truncate, Action: traces.Write}
			}
		}
		img, err := NewImage(traces.Slice(ops), blockSize)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkImage(img); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := map[traces.FID][]int64{}
		for _, f := range img.Files {
			got[f.FID] = []int64{}
			for _, x := range f.Extents {
				for b := x.First; b < x.First+x.Count; b++ {
					got[f.FID] = append(got[f.FID], b)
				}
			}
		}
		want := bytewise(ops, blockSize)
		if len(got) != len(want) {
			t.Fatalf("seed %d: files %v, want %v", seed, got, want)
		}
		for fid, blocks := range want {
			for _, b := range blocks {
				if !slices.Contains(got[fid], b) {
					t.Fatalf("seed %d: block %d of %s is missing from %v", seed, b, fid, got[fid])
				}
			}
			if aligned && !slices.Equal(got[fid], blocks) {
				t.Fatalf("seed %d: file %s has %v, want %v", seed, fid, got[fid], blocks)
			}
		}
	}
}

// bytewise returns the needed blocks of each file of the image.
func bytewise(ops []traces.Op, blockSize int64) map[traces.FID][]int64 {
	result := map[traces.FID][]int64{}
	for _, one := range ops {
		if _, done := result[one.FID]; done {
			continue
		}
		written := map[int64]bool{}
		needed := map[int64]bool{}
		known, exists := false, true
		for _, op := range ops {
			if op.FID != one.FID {
				continue
			}
			if !known && op.Type != traces.Open {
				known = true
				exists = op.Action == traces.Read || op.Type >= traces.Delete && op.Type != traces.Create && op.Type != traces.Symlink
			}
			if op.Type == traces.Delete {
				break
			}
			if op.Type != traces.Block {
				continue
			}
			for i := op.Off; i < op.Off+op.Size; i++ {
				if op.Action == traces.Write {
					written[i] = true
				} else if !written[i] {
					needed[i/blockSize] = true
				}
			}
		}
		if !exists {
			continue
		}
		blocks := []int64{}
		for b := range needed {
			blocks = append(blocks, b)
		}
		slices.Sort(blocks)
		result[one.FID] = blocks
	}
	return result
}

func TestSampleImage(t *testing.T) {
	in, err := sample.Source().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	img, err := NewImage(in, 4096)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkImage(img); err != nil {
		t.Fatal(err)
	}
	if len(img.Files) != 611 || img.Dirs != 0 || img.Blocks != 6876 {
		t.Errorf("%d files, %d directories, %d blocks", len(img.Files), img.Dirs, img.Blocks)
	}
}
