package replay

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidemark/tidemark/fsim"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/infer"
)

// TestRoomForEntries: a directory whose entries come and go, with names that
// leave gaps as bad as can be, stays within what the plan has room for.
func TestRoomForEntries(t *testing.T) {
	for _, blockSize := range []int64{512, 4096} {
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 9))
			tx := fsim.NewMemTx(int(blockSize))
			fs, err := fsim.Mkfs(tx, 0, fsim.Geometry{BlockSize: uint32(blockSize), Blocks: 20_000, BlocksPerGroup: uint32(8 * blockSize)}, 0)
			if err != nil {
				t.Fatal(err)
			}
			p := &Plan{Image: &infer.Image{BlockSize: blockSize, Files: []infer.File{{FID: 1, Dir: true}}}, users: map[traces.FID]user{}}
			var names []string
			for i := range 2500 {
				name := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
				if i%3 == 0 {
					name += strings.Repeat("x", traces.MaxName-3-rng.IntN(1+int(seed)*20))
				}
				op := traces.Op{Type: traces.Create, Action: traces.Write, FID: traces.FID(i), Place: &traces.Place{Dir: 1, Name: name}}
				p.count(op, blockSize)
				if _, err := fs.Create(tx, fs.Root(), name, fsim.File, 0, 0); err != nil {
					t.Fatal(err)
				}
				if names = append(names, name); rng.IntN(3) > 0 && len(names) > 1 { // gaps
					k := rng.IntN(len(names))
					if err := fs.Remove(tx, fs.Root(), names[k]); err != nil {
						t.Fatal(err)
					}
					names = append(names[:k], names[k+1:]...)
				}
			}
			info, err := fs.Stat(tx, fs.Root())
			if err != nil {
				t.Fatal(err)
			}
			if used := info.Size / blockSize; used > p.directoryBlocks() || used < 5 {
				t.Errorf("blocks of %d, seed %d: %d used, room for %d", blockSize, seed, used, p.directoryBlocks())
			}
		}
	}
}
