package server

import "testing"

func TestHighWater(t *testing.T) {
	for text, want := range map[string]uint64{
		"": 0, "VmHWM:": 0, "VmHWM:\tmuch\n": 0, "VmHWM:\t99999999999999999999 kB\n": 0,
		"VmPeak:\t  9 kB\nVmHWM:\t    1234 kB\nVmRSS:\t  7 kB\n": 1234 << 10,
	} {
		if got := highWater(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
