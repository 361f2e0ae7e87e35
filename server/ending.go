package server

// fail ends the server because of err. Whatever is not durable stays unseen,
// and nothing is acknowledged any more.
func (s *Server) fail(err error) {
	if s.enter() {
		s.stopFor(err)
		s.owner.Unlock()
	}
}

// stopFor is fail for the owner.
func (s *Server) stopFor(err error) {
	s.err = err
	s.opts.Logger.Error("the server stops", "error", err)
	s.end()
}

// end is the last thing that an owner does.
func (s *Server) end() {
	s.ended = true
	s.beginStop()
	s.dropConns()
	close(s.appends)
	close(s.done)
	s.loads.close()
}

// dropConns closes all connections once what is queued for them is sent.
func (s *Server) dropConns() {
	for _, c := range s.conns {
		c.queue.close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.mu.open {
		c.queue.close() // also those that the core has not met yet
	}
}
