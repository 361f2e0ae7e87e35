package core

import (
	"github.com/tidemark/tidemark/occ"
	"github.com/tidemark/tidemark/occ/wire"
)

// Receive takes in one message of the current connection. The items of a
// message are handled in order, each one closing before it installs, and the
// GLUB rises after the last (section 3). Transactions that can go on are
// woken. An error means that the server broke the protocol: the caller gives
// the connection up.
func (c *Core) Receive(m wire.Message) error {
	switch m := m.(type) {
	case *wire.Pong:
		if m.Req == 0 { // a heartbeat makes no sync point
			if err := c.checkStable(m.Stable); err != nil {
				return err
			}
			c.glub = m.Stable
			return nil
		}
		return c.reply(m.Req, m.Stable, m, func(*request) error { return nil })
	case *wire.ReadReply:
		return c.receiveRead(m)
	case *wire.Items:
		return c.receiveItems(m)
	case *wire.Validated:
		return c.reply(m.Req, m.Stable, m, func(r *request) error {
			c.finishCommit(r, m.Stable)
			return nil
		})
	case *wire.Conflict:
		return c.reply(m.Req, m.Stable, m, func(r *request) error {
			c.conflicted(r, m.Blocks)
			return nil
		})
	case *wire.Outcome:
		if m.At > m.Stable {
			return protocolError("a commit at %d in a message with stable %d", m.At, m.Stable)
		}
		return c.reply(m.Req, m.Stable, m, func(r *request) error {
			c.outcome(r, m)
			return nil
		})
	case *wire.LeaseReply:
		return c.reply(m.Req, m.Stable, m, func(r *request) error { return c.leased(r, m) })
	case *wire.PinReply:
		return c.reply(m.Req, m.Stable, m, func(r *request) error { return checkPin(r, m) })
	case *wire.PinsReply:
		return c.reply(m.Req, m.Stable, m, func(r *request) error { return checkPins(r, m) })
	case *wire.ChangesReply:
		return c.reply(m.Req, m.Stable, m, func(r *request) error { return checkChanges(r, m) })
	case *wire.StatusReply:
		return c.reply(m.Req, m.Stable, m, func(*request) error { return nil })
	case *wire.Welcome:
		return c.reply(m.Req, m.Stable, m, func(r *request) error { return c.welcomed(m, r.start) })
	case *wire.Error:
		refusal := &Refusal{Code: m.Code, Limit: m.Limit, Value: m.Value, Text: m.Text}
		if m.Req == 0 {
			c.cannotRead = m.Code == wire.CodeMalformed || m.Code == wire.CodeTooLarge
			return refusal
		}
		return c.reply(m.Req, m.Stable, m, func(r *request) error {
			if !r.resend {
				c.refused(r, refusal)
				return nil
			}
			// It may have happened, so this is no outcome. If the server is
			// stopping or busy the next connection asks again.
			if refusal.Code == wire.CodeStopping || refusal.Code == wire.CodeBusy {
				return refusal
			}
			c.commits.answer(r.seq)
			c.inDoubt(r.owner)
			return nil
		})
	}
	return protocolError("a message of type %d, which servers do not send", m.Type())
}

// checkStable checks a message's stable timestamp, before anything of the
// message takes effect. The largest number stands for Open and Latest.
func (c *Core) checkStable(stable occ.Timestamp) error {
	if stable < c.glub || stable == occ.Open {
		return protocolError("stable went from %d to %d", c.glub, stable)
	}
	return nil
}

// reply does what every answer has in common: it finds the request, does what
// the answer means, takes the request off the list, raises the GLUB, records
// the sync point, and wakes those who waited for it.
func (c *Core) reply(number uint64, stable occ.Timestamp, m wire.Message, effect func(*request) error) error {
	// The answer to a hello may show that the store has gone back, or is
	// another one.
	if err := c.checkStable(stable); err != nil && (c.online || stable == occ.Open) {
		return err
	}
	r, err := c.pending(number, m.Type())
	if err != nil {
		return err
	}
	if err := effect(r); err != nil {
		return err
	}
	c.synced(r, stable, m)
	return nil
}

// synced is the end of every reply (see reply).
func (c *Core) synced(r *request, stable occ.Timestamp, m wire.Message) {
	c.answered(r)
	if c.online { // not if the server refused to welcome the client
		c.glub = stable
		c.syncs.add(r.start, stable)
	}
	if t := r.owner; t != nil && t.state == Running && t.readOnly && !t.loKnown {
		t.snap.Lo = max(t.snap.Lo, stable)
		t.loKnown = true
	}
	for _, t := range r.waiters {
		c.done(t)
	}
	if q := r.query; q != nil {
		q.finish(m, nil)
	}
}

// done is the end of one thing that t waited for.
func (c *Core) done(t *Tx) {
	if t.waiting == 0 || t.state == Aborted {
		return
	}
	if t.waiting--; t.waiting == 0 {
		c.wake(t)
	}
}

// receiveRead takes in the versions that were asked for.
func (c *Core) receiveRead(m *wire.ReadReply) error {
	r, err := c.checkRead(m)
	if err != nil {
		return err
	}
	got := make([]*version, len(r.fetches))
	for i, res := range m.Results {
		f := r.fetches[i]
		delete(c.fetches, f.fetchKey)
		if res.Status == wire.StatusGone {
			c.cache.evictThrough(res.Horizon)
			continue
		}
		iv := occ.Interval{From: res.From, To: occ.Open}
		if res.Status == wire.StatusClosed {
			iv.To = res.To
		}
		if res.Status == wire.StatusStill {
			c.stats.StillCurrent++
			got[i] = c.cache.install(f.block, iv, f.have.data)
		} else {
			c.stats.BytesRead += uint64(len(res.Data))
			got[i] = c.cache.install(f.block, iv, c.padded(res.Data))
		}
		c.cache.pin(got[i]) // until the transactions that wait for it have it
	}
	c.synced(r, m.Stable, m)
	for i, f := range r.fetches {
		for _, t := range f.waiters {
			if t.state != Running {
				continue
			}
			if got[i] == nil && t.doomed {
				c.abort(t, occ.AbortActive, nil) // so old is what it reads
				continue
			}
			if got[i] == nil {
				t.gone, t.goneAt, t.oldest = true, f.at, m.Results[i].Horizon
			} else {
				c.arrived(t, got[i])
			}
			c.done(t)
		}
	}
	for _, v := range got {
		if v != nil {
			c.cache.unpin(v)
		}
	}
	c.letGo(r)
	return nil
}

// letGo ends what was pinned for the answer to r.
func (c *Core) letGo(r *request) {
	for _, f := range r.fetches {
		c.unpinHave(f)
	}
}

// unpinHave ends what was pinned for the answer to f.
func (c *Core) unpinHave(f *fetch) {
	if f.have != nil {
		c.cache.unpin(f.have)
		f.have = nil
	}
}

// checkRead finds the request that m answers and checks m before anything of
// it takes effect.
func (c *Core) checkRead(m *wire.ReadReply) (*request, error) {
	if err := c.checkStable(m.Stable); err != nil {
		return nil, err
	}
	r, err := c.pending(m.Req, m.Type())
	if err != nil {
		return nil, err
	}
	if len(m.Results) != len(r.fetches) {
		return nil, protocolError("%d results for %d blocks", len(m.Results), len(r.fetches))
	}
	for i, res := range m.Results {
		f := r.fetches[i]
		ok := false
		switch res.Status {
		case wire.StatusCurrent:
			ok = res.From <= m.Stable
		case wire.StatusStill:
			ok = f.have != nil && res.From == f.have.From
		case wire.StatusClosed:
			ok = res.From < res.To && res.To <= m.Stable
		case wire.StatusGone:
			ok = f.at != occ.Latest && f.at < res.Horizon
		}
		if !ok || len(res.Data) > c.blockSize {
			return nil, protocolError("block %d at %d is answered by status %d, [%d,%d), horizon %d, %d bytes, at stable %d",
				f.block, f.at, res.Status, res.From, res.To, res.Horizon, len(res.Data), m.Stable)
		}
	}
	return r, nil
}
