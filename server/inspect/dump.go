package inspect

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"

	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/server/record"
	"github.com/tidemark/tidemark/server/storedir"
	"github.com/tidemark/tidemark/server/wal"
)

// DumpOptions say what to print; the zero value is everything but blocks.
type DumpOptions struct {
	// From is the log index of the first entry. If the log ends before it, a line
	// says what it holds.
	From uint64
	// Blocks prints a line for each version in a checkpoint, whose data are read
	// for it, and for each block that a transaction wrote.
	Blocks bool
}

// Dump prints what the directory dir holds, in lines of a word and fields of
// the form name=value: the store file, each header slot and index file of the
// block store with its state, each segment, each entry's header, each record,
// and each damaged place. Data of blocks is given by its length
// without zeros at its end, and its CRC-32C. It returns the errors of Check
// and those of w.
func Dump(ctx context.Context, dir string, w io.Writer, opts DumpOptions) error {
	in, err := storedir.Inspect(dir)
	if err != nil {
		return err
	}
	defer in.Close()
	d := &dump{w: bufio.NewWriterSize(w, 64<<10), DumpOptions: opts}
	if in.Damage != nil {
		err = d.line("damage   file=%s: %v", filepath.Base(in.StorePath()), in.Damage)
	} else {
		err = d.line("store    id=%v block_size=%d epoch=%d", in.Store, in.BlockSize, in.Epoch)
	}
	if err == nil {
		err = d.blockStore(ctx, in)
	}
	if err != nil {
		return err
	}
	if _, err := wal.Survey(in.LogDir(), in.Store, wal.Visitor{Segment: d.segment, Entry: until(ctx, d.entry), Damage: d.damage}); err != nil {
		return err
	}
	if err := d.beyond(); err != nil {
		return err
	}
	return d.w.Flush()
}

type dump struct {
	DumpOptions
	w           *bufio.Writer
	first, last uint64 // log indexes of the entries so far, 0 without any
}

func (d *dump) line(format string, args ...any) error {
	_, err := fmt.Fprintf(d.w, format+"\n", args...)
	return err
}

func (d *dump) segment(path string, bytes int64) error {
	return d.line("segment  file=%s bytes=%d", filepath.Base(path), bytes)
}

func (d *dump) damage(p wal.Damage) error {
	if p.Index < d.From {
		return nil
	}
	return d.line("damage   index=%d offset=%d file=%s bytes=%d lost=%d torn=%t: %s",
		p.Index, p.Offset, filepath.Base(p.Segment), p.Bytes, p.Lost, p.Torn, p.Reason)
}

// beyond says what the log holds, if all of it is before From.
func (d *dump) beyond() error {
	switch {
	case d.From <= d.last:
		return nil
	case d.last == 0:
		return d.line("log      empty, and has no entry from %d on", d.From)
	}
	return d.line("log      first=%d last=%d, and no entry from %d on", d.first, d.last, d.From)
}

func (d *dump) entry(e wal.Entry) error {
	d.first, d.last = cmp.Or(d.first, e.Index), e.Index
	if e.Index < d.From {
		return nil
	}
	group, undecodable := record.Decode(e.Payload)
	if errors.Is(undecodable, record.ErrVersion) {
		return fmt.Errorf("%s: %w", e.Place(), undecodable)
	}
	if err := d.line("entry    index=%d epoch=%d offset=%d bytes=%d crc=%08x prev=%08x records=%d",
		e.Index, e.Epoch, e.Offset, e.Bytes, e.CRC, e.Prev, len(group.Records)); err != nil {
		return err
	}
	if undecodable != nil {
		return d.line("damage   index=%d offset=%d file=%s: %v", e.Index, e.Offset, filepath.Base(e.Segment), undecodable)
	}
	for i, r := range group.Records {
		if err := d.record(fmt.Sprintf("index=%d epoch=%d offset=%d record=%d", e.Index, e.Epoch, e.Offset, i), r); err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) record(where string, r record.Record) error {
	switch r := r.(type) {
	case *record.Commit:
		return d.commit(where, r)
	case *record.Session:
		return d.line("session  %s session=%v", where, r.ID)
	case *record.SessionEnd:
		return d.line("end      %s session=%v", where, r.ID)
	case *record.Lease:
		return d.line("lease    %s session=%v first=%d count=%d", where, r.Session, r.First, r.Count)
	case *record.Trim:
		return d.line("trim     %s session=%v upto=%d", where, r.Session, r.UpTo)
	case *record.Horizon:
		return d.line("horizon  %s at=%d", where, r.At)
	case *record.Pin:
		return d.line("pin      %s name=%q at=%d lease=%v", where, r.Name, r.At, r.Lease)
	case *record.Unpin:
		return d.line("unpin    %s name=%q", where, r.Name)
	case *record.Epoch:
		return d.line("epoch    %s number=%d", where, r.Epoch)
	}
	return fmt.Errorf("dump: no way to print a %T", r)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (d *dump) commit(where string, r *record.Commit) error {
	bytes := 0
	for _, w := range r.Writes {
		bytes += written(w)
	}
	if err := d.line("commit   %s at=%d session=%v seq=%d acked=%d digest=%08x blocks=%d bytes=%d",
		where, r.At, r.Session, r.Seq, r.Acked, r.Digest, len(r.Writes), bytes); err != nil || !d.Blocks {
		return err
	}
	for _, w := range r.Writes {
		if err := d.block(where, w); err != nil {
			return err
		}
	}
	return nil
}

// written is how many bytes of its block a write carries.
func written(w occ.Write) int {
	bytes := len(w.Data)
	for _, r := range w.Ranges {
		bytes += len(r.Data)
	}
	return bytes
}

func (d *dump) block(where string, w occ.Write) error {
	for _, r := range w.Ranges {
		if err := d.line("range    %s block=%d off=%d bytes=%d crc=%08x", where, w.Block, r.Off, len(r.Data), crc32.Checksum(r.Data, castagnoli)); err != nil {
			return err
		}
	}
	if len(w.Ranges) > 0 {
		return nil
	}
	return d.line("block    %s block=%d bytes=%d crc=%08x", where, w.Block, len(w.Data), crc32.Checksum(w.Data, castagnoli))
}
