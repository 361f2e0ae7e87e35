package replay

import "github.com/tidemark/tidemark/traces"

// order knows the unfinished transactions that others have to wait for. A
// client of a real server goes on when it has the reply; in a replay, whose
// commits may take longer than the trace's calls did, what it does next must
// still find what it made.
type order struct {
	made    map[traces.FID]*job // who makes a file
	changed map[hostDir]*job    // a host's last change of names in a directory
}

type hostDir struct {
	host uint32
	dir  traces.FID
}

func newOrder() order {
	return order{made: make(map[traces.FID]*job), changed: make(map[hostDir]*job)}
}

// directories are those in which an operation names entries.
func directories(op traces.Op) []traces.FID {
	switch {
	case op.Place == nil:
		return nil
	case op.Type == traces.Rename:
		return []traces.FID{op.Place.Dir, op.Place.ToDir}
	}
	return []traces.FID{op.Place.Dir}
}

// arrange makes a new transaction wait for those that make the file or the
// directories that its line names, and for its host's changes of names in
// these directories, and enters what it makes and changes itself. Those waited
// for have one operation and began before, so there are no circles. The
// caller holds r.mu.
func (r *Runner) arrange(j *job) {
	op := j.line
	j.waitFor(r.order.made[op.FID])
	if op.Type == traces.Rmdir {
		j.waitFor(r.order.changed[hostDir{op.Host, op.FID}])
	}
	for _, dir := range directories(op) {
		j.waitFor(r.order.made[dir])
		j.waitFor(r.order.changed[hostDir{op.Host, dir}])
	}
	switch op.Type {
	case traces.Create, traces.Mkdir, traces.Symlink:
		r.order.made[op.FID] = j
	case traces.Delete, traces.Rmdir, traces.Rename, traces.Link:
	default:
		return
	}
	for _, dir := range directories(op) {
		r.order.changed[hostDir{op.Host, dir}] = j
	}
}

// waitFor makes j wait until another transaction, if there is one, has ended.
func (j *job) waitFor(earlier *job) {
	if earlier != nil && earlier != j && !earlier.failed {
		j.waits++
		earlier.next = append(earlier.next, j)
	}
}

// leave takes out what a finished transaction has entered.
func (o *order) leave(j *job) {
	if o.made[j.line.FID] == j {
		delete(o.made, j.line.FID)
	}
	for _, dir := range directories(j.line) {
		if key := (hostDir{j.line.Host, dir}); o.changed[key] == j {
			delete(o.changed, key)
		}
	}
}
