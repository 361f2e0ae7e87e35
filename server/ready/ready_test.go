package ready

import (
	"net"
	"testing"
)

// TestLine: the line is what programs of others wait for, so it stays as it is.
func TestLine(t *testing.T) {
	line := Line(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7400})
	if want := "tidemark: listening on 127.0.0.1:7400\n"; line != want {
		t.Errorf("it is %q, not %q", line, want)
	}
	if addr, ok := Addr(line); !ok || addr != "127.0.0.1:7400" {
		t.Errorf("its address is %q, %t", addr, ok)
	}
}

// TestOtherLines: what is not the whole line has no address. A server that dies
// while it prints leaves a part.
func TestOtherLines(t *testing.T) {
	for _, line := range []string{"", "\n", "127.0.0.1:7400\n", "tidemark: listening on 127.0.0.1:74", " tidemark: listening on 127.0.0.1:7400\n"} {
		if addr, ok := Addr(line); ok {
			t.Errorf("%q has the address %q", line, addr)
		}
	}
}
