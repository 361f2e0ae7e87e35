package client

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidemark/tidemark/occ"
)

// Token is a place in a store's commit order that a client has reached. Handed
// to another client, it lets that one's next transactions see everything that
// the first one saw or wrote: causality between clients (protocol, section 2,
// point 6).
type Token struct {
	Store occ.StoreID
	// Generation changes when the store begins anew from an older state of
	// itself, a backup or what was salvaged: timestamps then come again.
	Generation uint32
	At         occ.Timestamp
}

// Token returns the place that this DB has reached: that of the newest
// transaction that it finished.
func (db *DB) Token() Token {
	db.mu.Lock()
	defer db.mu.Unlock()
	return Token{Store: db.core.Store(), Generation: db.core.Generation(), At: db.core.Floor()}
}

// After makes a transaction run at or after the place of a token. If the DB
// has not heard of that place it costs a ping. A token of another store, of
// another generation of it, or of a place that the server has not reached, is a
// *TokenError.
func After(t Token) TxOption { return TxOption{token: &t} }

// String returns the token as ParseToken takes it: the store's id in 32
// hexadecimal digits, and generation and timestamp in decimal, as in
// 00c0ffee00c0ffee00c0ffee00c0ffee.0@57.
func (t Token) String() string { return fmt.Sprintf("%s.%d@%d", t.Store, t.Generation, t.At) }

// ParseToken reads what String returned.
func ParseToken(text string) (Token, error) {
	place, at, ok := strings.Cut(text, "@")
	store, generation, ok2 := strings.Cut(place, ".")
	id, err := hex.DecodeString(store)
	g, err2 := strconv.ParseUint(generation, 10, 32)
	n, err3 := strconv.ParseUint(at, 10, 64)
	if !ok || !ok2 || err != nil || err2 != nil || err3 != nil || len(id) != len(occ.StoreID{}) {
		return Token{}, fmt.Errorf("%q is no causality token", text)
	}
	return Token{Store: occ.StoreID(id), Generation: uint32(g), At: occ.Timestamp(n)}, nil
}

// TokenError is a token that cannot be honoured.
type TokenError struct {
	Token Token
	// Store and Generation are those of the DB, and Stable how far its server
	// is.
	Store      occ.StoreID
	Generation uint32
	Stable     occ.Timestamp
}

// Error says which of the three reasons it is.
func (e *TokenError) Error() string {
	switch {
	case e.Token.Store != e.Store:
		return fmt.Sprintf("token %s is of another store than %s", e.Token, e.Store)
	case e.Token.Generation != e.Generation:
		return fmt.Sprintf("token %s is of another generation of the store than %d: it was restored or salvaged", e.Token, e.Generation)
	}
	return fmt.Sprintf("token %s is ahead of the server, which is at %d", e.Token, e.Stable)
}

// reachToken makes sure that the DB knows the store up to the token. The
// caller holds mu, which is released meanwhile.
func (db *DB) reachToken(ctx context.Context, t Token, noWait bool) error {
	if db.counts(t) && t.At > db.core.GLUB() {
		db.mu.Unlock()
		_, err := db.query(ctx, noWait, db.core.Ping)
		db.mu.Lock()
		if err != nil {
			return err
		}
	}
	if !db.counts(t) || t.At > db.core.GLUB() {
		return &TokenError{Token: t, Store: db.core.Store(), Generation: db.core.Generation(), Stable: db.core.GLUB()}
	}
	return nil
}

// counts reports whether the timestamp of t means here what it means where t
// is from. The caller holds mu.
func (db *DB) counts(t Token) bool {
	return t.Store == db.core.Store() && t.Generation == db.core.Generation()
}
