package main

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/tidemark/tidemark/bench/exp"
	"github.com/tidemark/tidemark/occ/history"
)

// TestJudged: only what the check of a replay has found has the exit code for
// that.
func TestJudged(t *testing.T) {
	failure := errors.New("no more room")
	for name, c := range map[string]struct {
		err  error
		code int
	}{
		"violation":         {(&exp.Figures{History: history.Result{Total: 1}}).Err(), exitFound},
		"problem":           {(&exp.Figures{Problems: 1}).Err(), exitFound},
		"both":              {(&exp.Figures{Problems: 1, History: history.Result{Total: 1}}).Err(), exitFound},
		"found and failure": {errors.Join(failure, &exp.ProblemsError{Problems: 1}), exitFound},
		"not judged":        {(&exp.Figures{History: history.Result{TooOld: 1}}).Err(), exitFailure},
		"failure":           {failure, exitFailure},
	} {
		env := &environment{ctx: t.Context(), stderr: io.Discard}
		if code := fail(env, "", judged(fmt.Errorf("replaying: %w", c.err))); code != c.code {
			t.Errorf("%s: exit code %d, not %d", name, code, c.code)
		}
	}
}
