package proc

import "sync"

const (
	// maxTranscript bounds what is kept of a server's messages, in bytes.
	maxTranscript = 1 << 20
	// maxLastWords bounds what an error has of them.
	maxLastWords = 16 << 10
)

// transcript keeps the end of what is written to it.
type transcript struct {
	mu   sync.Mutex
	text []byte
}

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTranscript; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
