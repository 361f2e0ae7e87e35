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
	At    occ.Timestamp
}

// Token returns the place that this DB has reached: that of the newest
// transaction that it finished.
func (db *DB) Token() Token {
	db.mu.Lock()
	defer db.mu.Unlock()
	return Token{Store: db.core.Store(), At: db.core.Floor()}
}

// After makes a transaction run at or after the place of a token. If the DB
// has not heard of that place it costs a ping. A token of another store, or of
// a place that the server has not reached, is a *TokenError.
func After(t Token) TxOption { return TxOption{token: &t} }

// String returns the token as ParseToken takes it.
func (t Token) String() string { return fmt.Sprintf("%s@%d", t.Store, t.At) }

// ParseToken reads what String returned.
func ParseToken(text string) (Token, error) {
	store, at, ok := strings.Cut(text, "@")
	id, err := hex.DecodeString(store)
	n, err2 := strconv.ParseUint(at, 10, 64)
	if !ok || err != nil || err2 != nil || len(id) != len(occ.StoreID{}) {
		return Token{}, fmt.Errorf("%q is no causality token", text)
	}
	return Token{Store: occ.StoreID(id), At: occ.Timestamp(n)}, nil
}

// TokenError is a token that cannot be honoured.
type TokenError struct {
	Token Token
	// Store is that of the DB, and Stable how far its server is.
	Store  occ.StoreID
	Stable occ.Timestamp
}

// Error says which of the two reasons it is.
func (e *TokenError) Error() string {
	if e.Token.Store != e.Store {
		return fmt.Sprintf("token %s is of another store than %s", e.Token, e.Store)
	}
	return fmt.Sprintf("token %s is ahead of the server, which is at %d", e.Token, e.Stable)
}

// reachToken makes sure that the DB knows the store up to the token. The
// caller holds mu, which is released meanwhile.
func (db *DB) reachToken(ctx context.Context, t Token, noWait bool) error {
	if t.Store == db.core.Store() && t.At > db.core.GLUB() {
		db.mu.Unlock()
		_, err := db.query(ctx, noWait, db.core.Ping)
		db.mu.Lock()
		if err != nil {
			return err
		}
	}
	if t.Store != db.core.Store() || t.At > db.core.GLUB() {
		return &TokenError{Token: t, Store: db.core.Store(), Stable: db.core.GLUB()}
	}
	return nil
}
