package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxLines is how long a file of the program may be. Tests and what is
// generated may be longer.
const maxLines = 300

// clockless packages wait for nothing and read no clock, nor do those that
// decide; but they use files or locks, or pass a context on.
var clockless = []string{"traces", "traces/format", "traces/sample", "fsim/replay", "bench/sim"}

// clocks are the functions of package time that read the machine's clock or
// wait for it.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// seeded are the names of math/rand/v2 that do not use its shared source.
var seeded = []string{"New", "NewPCG", "NewZipf", "Rand", "Source", "PCG", "Zipf"}

// vague are names that do not say what is inside.
var vague = []string{"util", "utils", "common", "helpers", "misc"}

var leftover = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)

// places are paths of somebody's machine. They are put together here, so that
// this file does not contain them.
var places = []string{"/wo" + "rk/", "/ho" + "me/", "/ro" + "ot/", "/Use" + "rs/"}

// programs are the beginnings of what go build writes: ELF, Mach-O and PE.
var programs = []string{"\x7fELF", "\xcf\xfa\xed\xfe", "MZ"}

// textProblems returns what is wrong with a file of any kind.
func textProblems(name string, text []byte) (problems []string) {
	if bytes.IndexByte(text, 0) >= 0 { // not text
		begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
		if slices.ContainsFunc(programs, begins) && !strings.HasSuffix(name, ".test") {
			problems = append(problems, name+" is a program: they are built into bin")
		}
		return problems
	}
	for _, p := range places {
		if bytes.Contains(text, []byte(p)) {
			problems = append(problems, fmt.Sprintf("%s names a place on one machine: %s", name, p))
		}
	}
	return problems
}

// sourceProblems returns what is wrong with a Go file. The name is its path
// below the root.
func sourceProblems(name string, text []byte) (problems []string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return []string{err.Error()}
	}
	add := func(pos token.Pos, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s:%d: %s", name, files.Position(pos).Line, fmt.Sprintf(format, args...)))
	}
	pkg := path.Dir(name)
	test := strings.HasSuffix(name, "_test.go")
	base := strings.TrimSuffix(strings.TrimSuffix(path.Base(name), ".go"), "_test")
	if slices.Contains(vague, base) || slices.Contains(vague, file.Name.Name) {
		add(file.Package, "%s and %s: a name that does not say what is inside", base, file.Name.Name)
	}
	lines := bytes.Count(text, []byte("\n"))
	if !test && !ast.IsGenerated(file) && lines > maxLines {
		add(file.End(), "%d lines are more than %d", lines, maxLines)
	}
	for _, group := range file.Comments {
		if word := leftover.FindString(group.Text()); word != "" {
			add(group.Pos(), "%s: finish it", word)
		}
	}
	silent := !test && (slices.Contains(deciding, pkg) || slices.Contains(clockless, pkg))
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if silent {
				add(n.Pos(), "a package that decides starts a goroutine")
			}
		case *ast.SelectStmt:
			if silent {
				add(n.Pos(), "a package that decides selects")
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			switch of := n.Sel.Name; {
			case silent && x.Name == "time" && slices.Contains(clocks, of):
				add(n.Pos(), "a package that decides uses time.%s", of)
			case silent && x.Name == "rand" && !slices.Contains(seeded, of):
				add(n.Pos(), "a package that decides uses rand.%s, which nobody seeds", of)
			case test && x.Name == "time" && of == "Sleep":
				add(n.Pos(), "a test sleeps: wait for what it waits for")
			case test && slices.Contains([]string{"t", "b", "f", "tb"}, x.Name) && strings.HasPrefix(of, "Skip"):
				add(n.Pos(), "a test is skipped")
			}
		}
		return true
	})
	return problems
}

// passedOver are directories that hold nothing of the source.
var passedOver = []string{".git", "bin"}

func TestSource(t *testing.T) {
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(passedOver, name) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		problems := textProblems(name, text)
		if strings.HasSuffix(name, ".go") {
			problems = append(problems, sourceProblems(name, text)...)
		}
		for _, p := range problems {
			t.Error(p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBadSourceIsNoticed checks the check.
func TestBadSourceIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
	}{
		{"occ/good.go", "package occ\n\nimport \"time\"\n\nconst second = time.Second\n", ""},
		{"occ/a.go", "package occ\n\nvar now = time.Now()\n", "uses time.Now"},
		{"fsim/replay/a.go", "package replay\n\nfunc f() { <-time.After(1) }\n", "uses time.After"},
		{"client/a.go", "package client\n\nvar now = time.Now()\n", ""},
		{"server/core/a.go", "package core\n\nfunc f() { go f() }\n", "starts a goroutine"},
		{"server/core/a_test.go", "package core\n\nfunc f() { go f() }\n", ""},
		{"bench/sim/a.go", "package sim\n\nfunc f() { select {} }\n", "selects"},
		{"traces/gen/a.go", "package gen\n\nvar n = rand.Int()\n", "nobody seeds"},
		{"traces/gen/a.go", "package gen\n\nvar r = rand.New(rand.NewPCG(1, 2))\n", ""},
		{"server/a_test.go", "package server\n\nfunc f() { time.Sleep(1) }\n", "a test sleeps"},
		{"server/a_test.go", "package server\n\nfunc f(t *testing.T) { t.Skipf(\"\") }\n", "is skipped"},
		{"server/a.go", "package server\n\n// To" + "do and TO" + "DO.\n", "finish it"},
		{"server/util.go", "package server\n", "does not say"},
		{"server/helpers_test.go", "package server\n", "does not say"},
		{"common/a.go", "package common\n", "does not say"},
		{"server/a.go", "package server\n" + strings.Repeat("\n", maxLines-1), ""},
		{"server/a.go", "package server\n" + strings.Repeat("\n", maxLines), "more than 300"},
		{"server/a_test.go", "package server\n" + strings.Repeat("\n", maxLines), ""},
		{"server/a.go", "// Code generated by x. DO NOT EDIT.\n\npackage server\n" + strings.Repeat("\n", maxLines), ""},
		{"server/a.go", "packag\n", "expected"},
	} {
		got := sourceProblems(c.name, []byte(c.text))
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s, %q: found %q", c.name, c.text, got)
		}
	}
	for _, p := range places {
		if len(textProblems("x", []byte("see "+p+"x"))) != 1 {
			t.Errorf("%s is not noticed", p)
		}
	}
	if len(textProblems("x", []byte("\x7fELF\x02\x00"))) != 1 || len(textProblems("x", []byte("ELF\x02\x00"))) != 0 {
		t.Error("a program is not told from other files")
	}
}
