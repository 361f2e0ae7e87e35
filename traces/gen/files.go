package gen

import "github.com/tidemark/tidemark/traces"

// Parts of file ids. One known id is 5e1e000000004d79, which looks like a file
// system and the number of an inode in it.
const (
	homeSystem   = 0x5e1e0000 // and the next homeSystems-1, by host
	homeSystems  = 4
	siteSystem   = 0x5e1e0010
	groupSystem  = 0x5e1e0011
	firstInode   = 0x0100
	commonInodes = 37 // distance of inodes of files that the site shares
)

func fid(system, inode int64) traces.FID { return traces.FID(system<<32 | (firstInode + inode)) }

// file is a file and how large it is, or how much of it is used.
type file struct {
	fid    traces.FID
	blocks int64
	tail   int64 // bytes in the last block
}

func (f file) size() int64 { return (f.blocks-1)*blockBytes + f.tail }

// shaped returns a file whose size follows from its id: half the files have
// one block, a quarter up to three, and so on; the last one has an odd length.
func (g *generator) shaped(id traces.FID) file {
	r := newRandom(g.h.Seed, uint64(id))
	n := int64(1) << r.doubling(maxDoublings)
	return file{id, n + r.below(n), 1 + r.below(blockBytes)}
}

// own is a host's file number i: the first homeFiles are its home, of the
// others each is used when the host needs one that is new to it.
func (g *generator) own(host *host, i int64) traces.FID {
	n := i*int64(g.h.Hosts) + int64(host.number)
	return fid(homeSystem+n%homeSystems, n/homeSystems)
}

// unused returns a file of the host that nothing has touched, of at least so
// many blocks.
func (g *generator) unused(host *host, blocks int64) file {
	f := g.shaped(g.own(host, homeFiles+host.used))
	host.used++
	f.blocks = max(f.blocks, blocks)
	return f
}

// home returns one of the files that the host uses again and again.
func (g *generator) home(host *host) file { return g.shaped(g.own(host, g.r.skewed(homeFiles))) }

// common returns a file that the whole site reads.
func (g *generator) common() file {
	return g.shaped(fid(siteSystem, commonInodes*g.r.skewed(commonFiles)))
}

// groupFile returns file i of a workgroup, counted over all of them.
func (g *generator) groupFile(i int64) file {
	f := g.shaped(fid(groupSystem, i))
	f.blocks = groupBlocks
	return f
}

// inGroup chooses a file of the host's workgroup.
func (g *generator) inGroup(host *host) int64 {
	return int64(host.number/groupHosts)*groupFiles + g.r.skewed(groupFiles)
}

// directory is the host's directory number i.
func (g *generator) directory(host *host, i int64) traces.FID {
	return fid(siteSystem+0x10, i*int64(g.h.Hosts)+int64(host.number))
}
