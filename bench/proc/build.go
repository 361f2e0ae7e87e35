package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// WithProgram builds the program tidemark of this module, stores its path in
// program, and calls run, after which the program is removed. It returns what
// run returns, or 1 if there is no program, and says why on standard error: a
// TestMain hands that to os.Exit. It needs the go command and the source.
func WithProgram(program *string, run func() int) int {
	dir, err := os.MkdirTemp("", "tidemark-program-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	*program = filepath.Join(dir, "tidemark")
	// The revision is of no use here, and git does not tell it to everybody.
	build := exec.Command("go", "build", "-buildvcs=false", "-o", *program, "github.com/tidemark/tidemark/cmd/tidemark")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building the server: %v\n%s", err, out)
		return 1
	}
	return run()
}
