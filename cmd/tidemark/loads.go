package main

import (
	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/traces"
	"github.com/tidemark/tidemark/traces/gen"
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
	h := gen.DefaultHour()
	h.Seed = seed
	hour, err := h.Source()
	if err != nil {
		return l, err
	}
	return l, add("generated Auspex-like hour", interruptible{hour, env.ctx}, hourNotes...)
}

var sampleNotes = []string{
	"real requests of 56 workstations to animation-studio file servers in 2003 (DataSeries, BSD licence), converted to the Auspex form.",
	"it spans 4.5 s, no host reads a data block twice, and its six read/write transactions share no file with other hosts:",
	"it shows metadata caching and message counts, not data savings or conflicts; those show on the generated hour.",
}

var hourNotes = []string{
	"made by a seeded generator in the shape of the first hour of the Berkeley Auspex trace, which cannot be shipped; docs/loads.md says what",
	"is known of that, what was fitted to the report (the numbers of transactions, the data that ε = 2 s moves, the aborts), and what is assumed.",
}
