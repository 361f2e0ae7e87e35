package chaos_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
)

// used is the CPU time of this process.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkIdle measures the share of one processor that a server and 64
// clients use while nobody asks for anything, over some seconds for each
// iteration. The clients' share is that of this whole process.
func BenchmarkIdle(b *testing.B) {
	const clients, period = 64, 3 * time.Second
	s, _ := start(b)
	ctx := patience(b, time.Hour)
	for range clients {
		db, err := client.Dial(ctx, s.Addr, client.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
	}
	db, err := client.Dial(ctx, s.Addr, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	var server, own time.Duration
	served := func() time.Duration {
		status, err := db.ServerStatus(ctx)
		if err != nil {
			b.Fatal(err)
		}
		return time.Duration(status["cpu_us"]) * time.Microsecond
	}
	b.ReportAllocs()
	for b.Loop() {
		atServer, here := served(), used(b)
		pause, done := context.WithTimeout(ctx, period)
		<-pause.Done()
		done()
		own += used(b) - here
		server += served() - atServer
	}
	of := 100 / (time.Duration(b.N) * period).Seconds()
	b.ReportMetric(server.Seconds()*of, "server-%cpu")
	b.ReportMetric(own.Seconds()*of, "clients-%cpu")
}
