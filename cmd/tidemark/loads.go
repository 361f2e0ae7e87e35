package main

import (
	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/bench/synth"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/sample"
)

// blockSize is that of replays, in bytes.
const blockSize = 4096

// loads are what is to be replayed.
type loads struct {
	list    []*exp.Load
	sources []traces.Source
}

func (l *loads) close() {
	for _, src := range l.sources {
		_ = src.Close() // it removes a copy of standard input at most
	}
}

// loads makes the first pass over the traces, or over the built-in loads if
// there are none. The caller closes the result, whatever the error.
func (f *replayFlags) loads(env *environment, paths []string, seed uint64) (*loads, error) {
	l := &loads{}
	add := func(name string, src traces.Source, notes ...string) error {
		l.sources = append(l.sources, src)
		load, err := exp.NewLoad(name, src, blockSize, f.PerOperation, notes...)
		if err == nil {
			l.list = append(l.list, load)
		}
		return err
	}
	for _, path := range paths {
		src, err := env.open(path, traces.Options{SkipUnknown: f.SkipUnknown})
		if err != nil {
			return l, err
		}
		if err := add(src.Name(), src); err != nil {
			return l, err
		}
	}
	if len(paths) > 0 {
		return l, nil
	}
	if err := add("bundled NFS sample", interruptible{sample.Source(), env.ctx}, sampleNotes...); err != nil {
		return l, err
	}
	p := synth.Default()
	p.Seed = seed
	return l, add("synthetic load", interruptible{p.Source(), env.ctx}, synthNotes...)
}

var sampleNotes = []string{
	"real requests of 56 workstations to animation-studio file servers in 2003 (DataSeries, BSD licence), converted to the Auspex form.",
	"it spans 4.5 s, no host reads a data block twice, and its six read/write transactions share no file with other hosts:",
	"it shows metadata caching and message counts, not data savings or conflicts; those show on the synthetic load.",
}

var synthNotes = []string{
	"made by a seeded generator (docs/loads.md): 94% of transactions read-only, in bursts, hosts re-reading a hot set, some of it",
	"shared and written by others. Its parameters are assumptions; it says how the settings compare, not what a real site would see.",
}
