package wal

import (
	"errors"
	"testing"
)

func TestMemoryFencesEarlierLogs(t *testing.T) {
	m := NewMemory(testStore, DefaultMemoryLimit)
	old, young := m.Open(), m.Open()
	mustFence(t, old)
	fill(t, old, 1)
	if _, err := young.Fence(1); !errors.Is(err, ErrFenced) {
		t.Fatalf("an epoch in use: %v", err)
	}
	if _, err := young.Fence(2); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Append(nil); !errors.Is(err, ErrFenced) {
		t.Fatalf("got %v, want ErrFenced", err)
	}
	fill(t, young, 2)
	wantEntries(t, old, 1, 2)
}

func TestMemoryIsBounded(t *testing.T) {
	m := NewMemory(testStore, 1000)
	l := m.Open()
	mustFence(t, l)
	for range 100 {
		if _, err := l.Append(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	if err := l.Read(0, func(uint64, []byte) error { kept++; return nil }); err != nil {
		t.Fatal(err)
	}
	if kept != 10 {
		t.Errorf("%d entries kept, want 10", kept)
	}
	if err := l.Read(1, func(uint64, []byte) error { return nil }); !errors.Is(err, ErrTrimmed) {
		t.Errorf("got %v, want ErrTrimmed", err)
	}
	if _, err := l.Append(make([]byte, 5000)); err != nil {
		t.Fatal(err)
	}
	if err := l.Read(101, func(_ uint64, p []byte) error {
		if len(p) != 5000 {
			t.Errorf("newest entry has %d bytes", len(p))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestMemoryKeepsNoPayload(t *testing.T) {
	l := NewMemory(testStore, DefaultMemoryLimit).Open()
	mustFence(t, l)
	p := payload(1)
	if _, err := l.Append(p); err != nil {
		t.Fatal(err)
	}
	clear(p)
	wantEntries(t, l, 1, 1)
}
