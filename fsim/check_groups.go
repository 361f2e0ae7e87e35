package fsim

// readGroups reads the metadata of all groups and follows the pointers of
// all inodes.
func (c *checker) readGroups() error {
	for g := range c.fs.groups {
		head, err := c.fs.readMany(c.tx, []uint32{c.fs.descriptor(g), c.fs.blockMap(g), c.fs.inodeMap(g)})
		if err != nil {
			return err
		}
		s := &groupState{blockMap: head[1], inodeMap: head[2]}
		for i := range s.used {
			s.used[i] = le.Uint32(head[0][4*i:])
		}
		if !allZero(head[0][descriptorSize:]) {
			c.report.add(BadGroup, groupPlace(g), "reserved bytes of the descriptor are set")
		}
		c.strayBits(groupPlace(g), "inode", s.inodeMap, c.fs.inoGroup)
		c.groups = append(c.groups, s)
		if err := c.readTable(g, s); err != nil {
			return err
		}
	}
	return c.followAll()
}

// readTable reads the inode table of a group in batches.
func (c *checker) readTable(g uint32, s *groupState) error {
	blocks := c.fs.meta - groupHead
	for first := uint32(0); first < blocks; first += batchBlocks {
		rels := make([]uint32, 0, batchBlocks)
		for i := first; i < blocks && len(rels) < batchBlocks; i++ {
			rels = append(rels, c.fs.table(g)+i)
		}
		table, err := c.fs.readMany(c.tx, rels)
		if err != nil {
			return err
		}
		for i, b := range table {
			if err := c.tableBlock(g, s, first+uint32(i), b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) tableBlock(g uint32, s *groupState, index uint32, b []byte) error {
	for i := range c.fs.perTable {
		bit := index*c.fs.perTable + i
		raw := b[i*inodeSize : (i+1)*inodeSize]
		if bit >= c.fs.inoGroup {
			if !allZero(raw) {
				c.report.add(BadGroup, groupPlace(g), "inode table is used past its last inode")
			}
			continue
		}
		if err := c.readInode(s, g*c.fs.inoGroup+bit+1, bit, raw); err != nil {
			return err
		}
	}
	return nil
}

// readInode notes one inode and the blocks that it points to.
func (c *checker) readInode(s *groupState, ino, bit uint32, raw []byte) error {
	var n inode
	ok := n.decode(raw)
	marked := hasBit(s.inodeMap, bit)
	switch {
	case !ok:
		c.report.add(BadInode, inodePlace(ino), "bad kind or reserved bytes")
		if le.Uint16(raw) > uint16(Symlink) {
			return nil
		}
	case n.kind == Free && n != (inode{gen: n.gen}):
		c.report.add(BadInode, inodePlace(ino), "free, but not empty")
	}
	switch {
	case n.kind == Free && marked:
		c.report.add(LeakedInode, inodePlace(ino), "marked used in the bitmap")
	case n.kind != Free && !marked:
		c.report.add(InodeMarkedFree, inodePlace(ino), "%s marked free in the bitmap", n.kind)
	}
	if n.kind == Free {
		return nil
	}
	if n.gen == 0 {
		c.report.add(BadInode, inodePlace(ino), "in use with generation 0")
	}
	if s.inodes == nil {
		s.inodes = make([]inodeState, c.fs.inoGroup)
	}
	s.inodes[bit] = inodeState{gen: n.gen, counted: n.blocks, links: n.links, kind: n.kind, parent: n.parent}
	switch why := c.fs.badInode(&n); {
	case why != "":
		c.report.add(BadSize, inodePlace(ino), "%s", why)
	case n.kind == Dir:
		c.dirs = append(c.dirs, dirState{ino, n})
	}
	for slot, p := range n.ptr {
		base, depth := c.fs.slotBase(slot)
		c.note(ref{ino: ino, rel: p, depth: depth, base: base, size: n.size})
	}
	if len(c.refs) < batchBlocks && len(c.tails) < batchBlocks {
		return nil
	}
	return c.followAll()
}
