package server

import "sync"

// room bounds what several goroutines have at a time. Who wants more than is
// left waits, and those who come later wait behind: the first of those who wait
// is never overtaken, so a large wish is granted like a small one. Who wants more than there is at all
// gets it when nobody else has any.
type room struct {
	limit int64
	turn  sync.Mutex // held by the first of those who wait

	mu    sync.Mutex
	freed sync.Cond // with mu
	used  int64
}

func newRoom(limit int64) *room {
	r := &room{limit: limit}
	r.freed.L = &r.mu
	return r
}

// take waits until n fit. Who has some must give it back before taking more.
func (r *room) take(n int64) {
	r.turn.Lock()
	defer r.turn.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.used > 0 && r.used+n > r.limit {
		r.freed.Wait()
	}
	r.used += n
}

func (r *room) give(n int64) {
	r.mu.Lock()
	r.used -= n
	r.mu.Unlock()
	r.freed.Signal()
}
