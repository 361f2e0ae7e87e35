package client

import (
	"testing"
	"time"
)

// fakeClocks are the clocks of a machine that can sleep.
type fakeClocks struct {
	wall, mono, slept time.Duration
	asked             int
}

func (f *fakeClocks) clock() *bootClock {
	return &bootClock{
		instant: func() (time.Duration, time.Duration) { return f.wall, f.mono },
		boot: func() time.Duration {
			f.asked++
			return f.mono + f.slept
		},
	}
}

func (f *fakeClocks) run(d time.Duration) { f.wall += d; f.mono += d }

func (f *fakeClocks) sleep(d time.Duration) { f.wall += d; f.slept += d }

func TestClockCountsSleep(t *testing.T) {
	f := &fakeClocks{wall: time.Hour, mono: time.Minute, slept: time.Second}
	c := f.clock()
	check := func(asked int) {
		t.Helper()
		if got, want := c.now(), f.mono+f.slept; got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		if f.asked != asked {
			t.Fatalf("the system was asked %d times, not %d", f.asked, asked)
		}
	}
	check(1)
	f.run(trusted / 2)
	check(1)
	f.sleep(time.Hour)
	check(2)
	f.run(trusted - 1)
	check(2)
	f.run(1)
	check(3)
	f.wall -= time.Hour // somebody sets it
	check(4)
	f.run(trusted / 4)
	check(4)
	f.sleep(time.Hour)
	f.wall -= time.Hour // by exactly what the sleep lasted, unseen
	f.run(trusted)
	check(5)
}

// A reading that was late makes the clock catch up, never go back.
func TestClockNeverGoesBack(t *testing.T) {
	f := &fakeClocks{}
	c := f.clock()
	late := 40 * time.Microsecond
	boot := c.boot
	c.boot = func() time.Duration {
		b := boot()
		f.run(late) // the goroutine is held up here
		return b
	}
	last := time.Duration(-1)
	for range 100 {
		late = 40*time.Microsecond - late
		f.run(trusted / 3)
		got := c.now()
		if got < last {
			t.Fatalf("%v after %v", got, last)
		}
		if got > f.mono || got < f.mono-40*time.Microsecond {
			t.Fatalf("%v at %v", got, f.mono)
		}
		last = got
	}
	if last < f.mono-20*time.Microsecond && f.asked < 10 {
		t.Fatalf("%v at %v, asked %d times", last, f.mono, f.asked)
	}
}

func TestProcessClock(t *testing.T) {
	last := processClock.now()
	for range 100_000 {
		before := askBoot()
		now := processClock.now()
		if now < last {
			t.Fatalf("%v after %v", now, last)
		}
		if now > askBoot()+time.Microsecond || now < before-time.Second {
			t.Fatalf("%v, but the system says %v", now, before)
		}
		last = now
	}
}

func BenchmarkClock(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		processClock.now()
	}
}
