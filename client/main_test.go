package client_test

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if peer() {
		return
	}
	goleak.VerifyTestMain(m)
}
