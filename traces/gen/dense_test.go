package gen_test

import (
	"io"
	"reflect"
	"testing"

	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
	"github.com/tidemark/tidemark/traces/infer"
)

func TestDenseSameSeedSameOperations(t *testing.T) {
	p := gen.DefaultDense()
	if !reflect.DeepEqual(p.Ops(), p.Ops()) {
		t.Fatal("two runs differ")
	}
	q := p
	q.Seed++
	if reflect.DeepEqual(p.Ops(), q.Ops()) {
		t.Fatal("the seed changes nothing")
	}
}

func TestDenseShape(t *testing.T) {
	p := gen.DefaultDense()
	in, err := p.Source().Open()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	events := infer.NewEvents(in, infer.Options{})
	hosts := make(map[uint32]bool)
	files := make(map[traces.FID]map[uint32]bool)
	for {
		e, err := events.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		hosts[e.Host] = true
		if e.Kind == infer.Do {
			if files[e.Op.FID] == nil {
				files[e.Op.FID] = make(map[uint32]bool)
			}
			files[e.Op.FID][e.Host] = true
		}
	}
	c := events.Counts()
	if len(hosts) != p.Hosts {
		t.Errorf("%d hosts, want %d", len(hosts), p.Hosts)
	}
	if share := float64(c.ReadOnly) / float64(c.Transactions()); share < 0.93 || share > 0.96 {
		t.Errorf("%.3f of %d transactions are read-only", share, c.Transactions())
	}
	shared := 0
	for _, users := range files {
		if len(users) > 1 {
			shared++
		}
	}
	if want := p.SharedFiles * p.Hosts / p.Group; shared != want {
		t.Errorf("%d files are used by several hosts, want %d", shared, want)
	}
	t.Logf("%d operations, %d read-only, %d read/write", c.Operations, c.ReadOnly, c.ReadWrite)
}
