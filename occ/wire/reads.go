package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/tidemark/tidemark/occ"
)

// Bits beside the number of items of a Read: whether any of them names a
// timestamp, or a version that the client has. Reads of the newest versions
// have neither, and then spend no byte on them.
const (
	readHasAt   = 1
	readHasHave = 2
)

func appendReadItems(b []byte, items []ReadItem) []byte {
	has := uint64(0)
	for i := range items {
		if items[i].At != occ.Latest {
			has |= readHasAt
		}
		if items[i].Have != Absent {
			has |= readHasHave
		}
	}
	b = binary.AppendUvarint(b, uint64(len(items))<<2|has)
	prev := ReadItem{At: occ.Latest, Have: Absent}
	for _, it := range items {
		b = appendDelta(b, uint64(it.Block), uint64(prev.Block))
		if has&readHasAt != 0 {
			b = appendDelta(b, uint64(it.At), uint64(prev.At))
		}
		if has&readHasHave != 0 {
			b = appendDelta(b, uint64(it.Have), uint64(prev.Have))
		}
		prev = it
	}
	return b
}

func (d *decoder) readItems() []ReadItem {
	const field = "items"
	head := d.uvarint(field)
	n, has := head>>2, head&3
	if n > MaxReadItems || n > uint64(len(d.b)) {
		d.fail(field, "more items than the protocol allows or the message holds")
		return nil
	}
	var list []ReadItem
	if n > 0 {
		list = make([]ReadItem, n)
	}
	seen := uint64(0)
	prev := ReadItem{At: occ.Latest, Have: Absent}
	for i := range list {
		prev.Block = occ.BlockID(d.delta(field, uint64(prev.Block)))
		if has&readHasAt != 0 {
			prev.At = occ.Timestamp(d.delta(field, uint64(prev.At)))
		}
		if has&readHasHave != 0 {
			prev.Have = occ.Timestamp(d.delta(field, uint64(prev.Have)))
		}
		if prev.At != occ.Latest {
			seen |= readHasAt
		}
		if prev.Have != Absent {
			seen |= readHasHave
		}
		list[i] = prev
	}
	if seen != has {
		d.fail(field, "announces a column that no item needs")
	}
	return list
}

// A result begins with a tag: its status, whether it is the last of the
// message, and above that the length of its data. The data of the last
// result runs to the end of the message and has no length there.
const (
	tagStatus = 3
	tagLast   = 4
	tagShift  = 3
)

func appendResults(b []byte, m *ReadReply) []byte {
	for i := range m.Results {
		r := &m.Results[i]
		var data []byte
		if r.Status == StatusCurrent || r.Status == StatusClosed {
			data = trim(r.Data)
		}
		tag := uint64(r.Status)
		if i == len(m.Results)-1 {
			tag |= tagLast
		} else {
			tag |= uint64(len(data)) << tagShift
		}
		b = binary.AppendUvarint(b, tag)
		switch r.Status {
		case StatusCurrent, StatusStill:
			b = binary.AppendUvarint(b, uint64(m.Stable-r.From))
		case StatusClosed:
			b = binary.AppendUvarint(b, uint64(m.Stable-r.From))
			b = binary.AppendUvarint(b, uint64(r.To-r.From))
		case StatusGone:
			b = binary.AppendUvarint(b, uint64(m.Stable-r.Horizon))
		default:
			panic(fmt.Sprintf("wire: read status %d does not exist", r.Status))
		}
		b = append(b, data...)
	}
	return b
}

func (d *decoder) results(stable occ.Timestamp) []ReadResult {
	var list []ReadResult
	for last := len(d.b) == 0; !last; {
		tag := d.uvarint("results")
		last = tag&tagLast != 0
		size := tag >> tagShift
		r := ReadResult{Status: ReadStatus(tag & tagStatus)}
		switch r.Status {
		case StatusCurrent, StatusStill:
			r.From = occ.Timestamp(d.below("from", uint64(stable)))
		case StatusClosed:
			r.From = occ.Timestamp(d.below("from", uint64(stable)))
			r.To = r.From + occ.Timestamp(d.uvarint("to"))
		case StatusGone:
			r.Horizon = occ.Timestamp(d.below("horizon", uint64(stable)))
		}
		hasData := r.Status == StatusCurrent || r.Status == StatusClosed
		if size > 0 && (last || !hasData) {
			d.fail("results", "a length where none belongs")
		}
		if hasData {
			if last {
				size = uint64(len(d.b))
			}
			r.Data = d.block("data", size, d.blockSize)
		}
		if len(list) == MaxReadItems {
			d.fail("results", "more results than the protocol allows")
		}
		if d.err != nil {
			return nil
		}
		if list == nil && !last {
			list = make([]ReadResult, 0, 16)
		}
		list = append(list, r)
	}
	return list
}
