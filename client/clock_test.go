package client

import "testing"

func BenchmarkClock(b *testing.B) {
	for b.Loop() {
		bootClock()
	}
}
