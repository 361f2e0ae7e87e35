package core

import "testing"

func TestRequestNumbersBeginAgain(t *testing.T) {
	c := New(Config{CacheBytes: 1 << 10})
	c.lastReq = maxRequest - 2
	c.requests[maxRequest] = &request{}
	c.requests[1] = &request{}
	for _, want := range []uint64{maxRequest - 1, 2, 3} {
		if r := c.newRequest(nil, 0); r.number != want {
			t.Fatalf("number %d, want %d", r.number, want)
		}
	}
}
