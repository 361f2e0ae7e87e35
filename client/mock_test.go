package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang/mock/gomock"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ/wire"
	"github.com/tidemark/tidemark/server"
)

// TestWaitFailsAtEachCall has each wait of a short conversation fail in turn,
// as it does when its context ends right there.
func TestWaitFailsAtEachCall(t *testing.T) {
	why := errors.New("no more waiting")
	for n := 1; n <= 4; n++ { // 1: the welcome, 2: the ids, 3: the commit, 4: the read
		w := newWorld(t, server.Options{})
		w.connect = func(o client.Options) (*client.DB, error) {
			return client.Open(w.ctx, failingWait(t, w, n, why), o)
		}
		if n == 1 {
			w.gate.close() // or the welcome may come before it is waited for
		}
		db, err := w.connect(client.Options{Recorder: w, NoBackground: true, CacheBytes: 1})
		if n == 1 {
			w.gate.open()
			w.wants(err, why)
			continue
		}
		w.ok(err)
		w.dbs = append(w.dbs, db)
		err = db.Update(w.ctx, func(tx *client.Tx) error {
			id, err := tx.Create()
			if err != nil {
				return err
			}
			return tx.Write(id, []byte("x"))
		})
		switch n {
		case 2:
			w.wants(err, why)
			w.gate.open()
			if st := db.Stats(); st.Traffic.Sent.Total().Messages != 2 || st.ReadWrite != 0 {
				t.Errorf("%+v", st.Stats)
			}
		case 3:
			w.wants(err, client.ErrOutcomeUnknown)
			w.wants(err, why)
			w.gate.open()
			for db.Stats().ReadWrite == 0 { // the answer comes all the same
				w.ok(db.Ping(w.ctx))
			}
		case 4:
			w.ok(err)
			err = db.View(w.ctx, func(tx *client.Tx) error { _, err := tx.Read(1 << 20); return err })
			w.wants(err, why)
			w.gate.open()
			if got := w.get(db, 1); got != "x" { // the late answer does no harm
				t.Errorf("read %q", got)
			}
		}
	}
}

// failingWait connects over a transport whose nth wait fails.
func failingWait(t *testing.T, w *world, n int, why error) client.Connect {
	return func(ctx context.Context, r client.Receiver) (client.Transport, error) {
		real, err := client.LocalPipe(gatedBackend{w.srv, w.gate})(ctx, r)
		if err != nil {
			return nil, err
		}
		tr := NewMockTransport(gomock.NewController(t))
		tr.EXPECT().Send(gomock.Any()).Do(real.Send).AnyTimes()
		tr.EXPECT().NewCall().DoAndReturn(real.NewCall).AnyTimes()
		tr.EXPECT().Close().DoAndReturn(real.Close).AnyTimes()
		waits := 0
		tr.EXPECT().Await(gomock.Any(), gomock.Any(), gomock.Any()).DoAndReturn(
			func(ctx context.Context, c client.Call, limit time.Duration) error {
				if waits++; waits == n {
					return why
				}
				err := real.Await(ctx, c, limit)
				if waits == n-1 {
					w.gate.close() // the answer that is no longer waited for comes later
				}
				return err
			}).AnyTimes()
		return tr, nil
	}
}

// A server that refuses a connection before it is asked anything is heard.
func TestRefusedBeforeTheHello(t *testing.T) {
	frame := wire.Append(nil, &wire.Error{Code: wire.CodeBusy, Text: "full house"})
	body, _, err := wire.SplitFrame(frame, wire.MaxFrame)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Open(context.Background(), func(_ context.Context, r client.Receiver) (client.Transport, error) {
		r.Lost(r.Receive(body))
		tr := NewMockTransport(gomock.NewController(t))
		tr.EXPECT().Close().AnyTimes()
		return tr, nil
	}, client.Options{})
	if err == nil || !strings.Contains(err.Error(), "full house") {
		t.Fatalf("got %v", err)
	}
}

// A hello whose wait ends just as the welcome has come is welcomed: there is
// one connection, and it keeps the client coherent.
func TestWelcomeAsTheWaitEnds(t *testing.T) {
	w := newWorld(t, server.Options{})
	connections := 0
	w.connect = func(o client.Options) (*client.DB, error) {
		return client.Open(w.ctx, func(ctx context.Context, r client.Receiver) (client.Transport, error) {
			connections++
			real, err := client.LocalPipe(gatedBackend{w.srv, w.gate})(ctx, r)
			if err != nil || connections != 2 {
				return real, err
			}
			return &lateTransport{Transport: real}, nil
		}, o)
	}
	db := w.open(client.Options{})
	id := w.create(db, "x")[0]
	w.gate.cut()
	for db.Stats().Reconnects == 0 {
		w.ok(w.ctx.Err())
	}
	if got := w.get(db, id); got != "x" {
		t.Fatalf("read %q", got)
	}
	w.set(db, id, "y")
	if got := w.get(db, id); got != "y" || connections != 2 {
		t.Fatalf("read %q over %d connections", got, connections)
	}
}

// lateTransport says that the first wait has failed, although it has not.
type lateTransport struct {
	client.Transport
	waits atomic.Int64 // for calls: the background waits, too, for none
}

func (l *lateTransport) Await(ctx context.Context, c client.Call, limit time.Duration) error {
	err := l.Transport.Await(ctx, c, limit)
	if c != nil && l.waits.Add(1) == 1 {
		return errors.New("too late")
	}
	return err
}
