package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tidemark/tidemark/client"
	"github.com/tidemark/tidemark/occ"
)

// withBlock calls do with a client of the server at an address and the block
// that a number names.
func withBlock(ts *testscript.TestScript, addr, number string, do func(context.Context, *client.DB, occ.BlockID) error) {
	block, err := strconv.ParseUint(number, 10, 64)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := client.Dial(ctx, addr, client.Options{NoWait: true})
	ts.Check(err)
	defer db.Close()
	ts.Check(do(ctx, db, occ.BlockID(block)))
}

// commit writes text to a block in a transaction.
func commit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "commit ADDR BLOCK TEXT")
	withBlock(ts, args[0], args[1], func(ctx context.Context, db *client.DB, b occ.BlockID) error {
		return db.Update(ctx, func(tx *client.Tx) error { return tx.Write(b, []byte(args[2])) })
	})
}

// reads checks what a block holds, now or in a snapshot.
func reads(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 3, "reads ADDR BLOCK TEXT [SNAPSHOT]")
	var opts []client.TxOption
	if len(args) > 3 {
		opts = append(opts, client.AtSnapshot(args[3]))
	}
	withBlock(ts, args[0], args[1], func(ctx context.Context, db *client.DB, b occ.BlockID) error {
		return db.View(ctx, func(tx *client.Tx) error {
			data, err := tx.Read(b)
			if text := strings.TrimRight(string(data), "\x00"); err == nil && text != args[2] {
				ts.Fatalf("block %d holds %q, not %q", b, text, args[2])
			}
			return err
		}, opts...)
	})
}
