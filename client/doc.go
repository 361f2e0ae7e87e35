// Package client is the library through which programs use a Tidemark store:
// serializable transactions over blocks, a coherent multi-version cache, and
// read-only transactions that run locally.
//
//	db, err := client.Dial(ctx, "localhost:7400", client.Options{})
//	err = db.View(ctx, func(tx *client.Tx) error {
//		data, err := tx.Read(id)
//		...
//	}, client.Freshness(2*time.Second))
//	err = db.Update(ctx, func(tx *client.Tx) error {
//		id, err := tx.Create()
//		...
//		return tx.Write(id, data)
//	})
//
// # What is promised
//
// All transactions of all clients are serializable. A read-only transaction
// (View) sees everything that was committed longer ago than its freshness
// bound when it began; with the bound 0, the default, everything committed
// before it began. It never aborts and waits for no other transaction. While
// a sync point younger than the bound is at hand and the blocks are cached, it
// sends nothing. Read/write transactions (Update) are strictly serializable
// and see one consistent snapshot while they run. Through one DB, a
// transaction sees what earlier finished ones wrote or read.
//
// # What is not promised
//
// Between different DBs there is no causality beyond the freshness bound,
// unless one is handed the other's Token.
//
// # Snapshots
//
// View with At runs at a timestamp of the past, AtSnapshot at one that Pin gave
// a name and that stays readable until Unpin or the end of a lease. Such a
// transaction is neither fresh nor bound by causality. Changes lists what was
// written between two timestamps.
//
// # Connections
//
// A connection that is lost, or silent for too long, is replaced in the
// background. View and Update ride over that: they wait, within their context,
// and run again if they have to. A commit that was under way is sent again and
// happens exactly once. Meanwhile read-only transactions go on as long as a
// sync point is young enough and the blocks are cached; with the bound
// Unbounded as long as the blocks are. NoWait makes transactions fail instead
// of waiting: with ErrStale or ErrDisconnected. If the server turns out to have
// another store, or an older state of it, everything is forgotten and calls
// fail with ErrStoreChanged until AcceptStore.
//
// # Bytes
//
// Slices returned by Read and ReadMany are shared with the cache: they must
// not be written to, and stay valid for ever (buffers are not recycled).
// Slices handed to Write are copied.
//
// A DB may be used from any number of goroutines, a Tx from one at a time.
package client
