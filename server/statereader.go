package server

import "io"

// stateReader reads the state that the core has in the making. It becomes the
// owner for one short piece at a time, also when the server has ended: the state
// is of what was durable before.
type stateReader struct {
	server   *Server
	buf      []byte // of the piece
	rest     []byte // of buf, not yet read
	complete bool   // it is the last piece
}

// Read returns io.EOF behind the state, and no other error.
func (r *stateReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.complete {
			return 0, io.EOF
		}
		r.server.owner.Lock()
		r.buf, r.complete = r.server.core.NextState(r.buf[:0])
		r.server.owner.Unlock()
		r.rest = r.buf
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
