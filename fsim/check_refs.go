package fsim

// ref is an indirect block to be followed.
type ref struct {
	ino, rel uint32
	depth    int
	base     uint64 // first file block under it
	size     uint64 // of the file
}

// tail is the last block of a file, whose bytes from `from` on are to be
// zeros.
type tail struct {
	ino, rel uint32
	from     int
}

// note counts a pointer, and queues what it points to if that has to be read.
// A block that was noted before is not followed again, which bounds the work.
func (c *checker) note(r ref) {
	if r.rel == 0 {
		return
	}
	g, bit, ok := c.fs.locate(r.rel)
	if !ok {
		c.report.add(BadPointer, inodePlace(r.ino), "points to block %d, which is not a data block", r.rel)
		return
	}
	c.inode(r.ino).blocks++
	seen := c.seen[g]
	if seen == nil {
		seen = make([]byte, (c.fs.dataBlocks(g)+7)/8)
		c.seen[g] = seen
	}
	if hasBit(seen, bit) {
		c.report.add(DoubleUse, blockPlace(r.rel), "inode %d points to it, and another pointer does", r.ino)
		return
	}
	seen[bit/8] |= 1 << (bit % 8)
	if r.base >= c.fs.blocksFor(r.size) {
		c.report.add(BadSize, inodePlace(r.ino), "block %d is past the size of %d bytes", r.rel, r.size)
	}
	switch rest := int(r.size & uint64(c.fs.blockSize-1)); {
	case r.depth > 0:
		c.refs = append(c.refs, r)
	case rest != 0 && r.base == r.size>>c.fs.shift:
		c.tails = append(c.tails, tail{r.ino, r.rel, rest})
	}
}

// followAll works off all refs and tails. Taking batches from the end keeps
// the queue short: whole trees are finished before the next are begun.
func (c *checker) followAll() error {
	for len(c.refs) > 0 {
		cut := max(0, len(c.refs)-batchBlocks)
		batch := append([]ref(nil), c.refs[cut:]...)
		c.refs = c.refs[:cut]
		rels := make([]uint32, len(batch))
		for i, r := range batch {
			rels[i] = r.rel
		}
		blocks, err := c.fs.readMany(c.tx, rels)
		if err != nil {
			return err
		}
		for i, r := range batch {
			span := c.fs.span(r.depth - 1)
			for j := range uint64(1) << c.fs.ptrShift {
				c.note(ref{ino: r.ino, rel: le.Uint32(blocks[i][4*j:]), depth: r.depth - 1, base: r.base + j*span, size: r.size})
			}
		}
	}
	return c.readTails()
}

func (c *checker) readTails() error {
	for len(c.tails) > 0 {
		batch := c.tails[:min(batchBlocks, len(c.tails))]
		c.tails = c.tails[len(batch):]
		rels := make([]uint32, len(batch))
		for i, t := range batch {
			rels[i] = t.rel
		}
		blocks, err := c.fs.readMany(c.tx, rels)
		if err != nil {
			return err
		}
		for i, t := range batch {
			if !allZero(blocks[i][t.from:]) {
				c.report.add(BadSize, inodePlace(t.ino), "bytes other than zero past the size, in block %d", t.rel)
			}
		}
	}
	return nil
}
