package tidy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// limited are the packages whose limits docs/limits.md lists.
var limited = []string{
	"occ/wire",
	"occ/history",
	"server",
	"server/core",
	"server/record",
	"server/wal",
	"server/storedir",
	"client",
	"client/core",
	"fsim",
	"fsim/replay",
	"traces",
	"traces/infer",
	"traces/nfs",
	"traces/nfsdump",
	"bench",
	"bench/exp",
	"bench/live",
	"bench/proc",
	"bench/sim",
	"traces/binary",
	"traces/survey",
	"traces/gen",
	"traces/capture",
	"traces/capture/pcap",
	"traces/capture/packet",
	"traces/capture/tcp",
	"traces/capture/rpc",
	"traces/capture/nfsxdr",
	"server/blocks",
	"server/blocks/layout",
	"server/disk",
	"server/inspect/blockdir",
	"server/inspect/salvage",
	"backup",
	"backup/take",
	"backup/restore",
}

// limitName tells by its name that a constant is a limit.
var limitName = regexp.MustCompile(`^([Mm]ax|Default|default)[A-Z]`)

// noLimits look like limits.
var noLimits = map[string]string{
	"server/record.maxVarintLen":         "a fact of the encoding",
	"traces/nfsdump.maxAddress":          "a fact of the notation",
	"traces/binary.maxEncoded":           "a fact of the encoding",
	"fsim.defaultGroups":                 "a wish, when Mkfs chooses the shape of a volume",
	"server/blocks/layout.maxVersionLen": "a fact of the encoding",
}

// elsewhere are the constants of other packages that limits are made of.
var elsewhere = map[string]constant.Value{
	"time.Microsecond":      constant.MakeInt64(1e3),
	"time.Millisecond":      constant.MakeInt64(1e6),
	"time.Second":           constant.MakeInt64(1e9),
	"time.Minute":           constant.MakeInt64(60e9),
	"time.Hour":             constant.MakeInt64(3600e9),
	"math.MaxInt32":         constant.MakeInt64(math.MaxInt32),
	"math.MaxInt64":         constant.MakeInt64(math.MaxInt64),
	"math.MaxUint64":        constant.MakeUint64(math.MaxUint64),
	"binary.MaxVarintLen32": constant.MakeInt64(5),
	"binary.MaxVarintLen64": constant.MakeInt64(10),
}

// constants are the expressions of a package's constants by name, and by
// Function.Field those of the structure that a function returns.
type constants map[string]ast.Expr

func readConstants(t *testing.T, pkg string) constants {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no source in %s (%v)", pkg, err)
	}
	all := make(constants)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			all.add(decl)
		}
	}
	return all
}

func (c constants) add(decl ast.Decl) {
	switch decl := decl.(type) {
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for i, name := range v.Names {
				if i < len(v.Values) {
					c[name.Name] = v.Values[i]
				}
			}
		}
	case *ast.FuncDecl:
		if decl.Recv != nil || len(decl.Body.List) != 1 {
			return
		}
		ret, ok := decl.Body.List[0].(*ast.ReturnStmt)
		if !ok || len(ret.Results) != 1 {
			return
		}
		lit, ok := ret.Results[0].(*ast.CompositeLit)
		if !ok {
			return
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok {
					c[decl.Name.Name+"."+key.Name] = kv.Value
				}
			}
		}
	}
}

// value evaluates an expression of numbers; depth bounds how deep names may
// refer to each other.
func (c constants) value(e ast.Expr, depth int) (constant.Value, error) {
	if depth == 0 {
		return nil, fmt.Errorf("it refers to itself")
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0), nil
	case *ast.ParenExpr:
		return c.value(e.X, depth-1)
	case *ast.Ident:
		if x, ok := c[e.Name]; ok {
			return c.value(x, depth-1)
		}
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok && elsewhere[x.Name+"."+e.Sel.Name] != nil {
			return elsewhere[x.Name+"."+e.Sel.Name], nil
		}
	case *ast.CallExpr: // a conversion
		if len(e.Args) == 1 {
			return c.value(e.Args[0], depth-1)
		}
	case *ast.BinaryExpr:
		x, err := c.value(e.X, depth-1)
		if err != nil {
			return nil, err
		}
		y, err := c.value(e.Y, depth-1)
		if err != nil {
			return nil, err
		}
		switch e.Op {
		case token.SHL, token.SHR:
			s, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(s)), nil
		case token.QUO:
			return constant.BinaryOp(x, token.QUO_ASSIGN, y), nil // of integers
		}
		return constant.BinaryOp(x, e.Op, y), nil
	}
	return nil, fmt.Errorf("no number that this test can work out: %T", e)
}

// units are what the numbers in the document stand for; all others are 1.
var units = map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1e6, "s": 1e9}

// documented is a row of the document.
type documented struct {
	name  string
	value constant.Value
}

func readLimits(t *testing.T, text string) (rows []documented) {
	t.Helper()
	for n, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			t.Fatalf("line %d: %d cells", n+1, len(cells))
		}
		number, err := strconv.ParseUint(strings.ReplaceAll(strings.TrimSpace(cells[2]), ",", ""), 10, 64)
		if err != nil {
			t.Fatalf("line %d: %v", n+1, err)
		}
		v := constant.MakeUint64(number)
		if unit, ok := units[strings.TrimSpace(cells[3])]; ok {
			v = constant.BinaryOp(v, token.MUL, constant.MakeInt64(unit))
		}
		rows = append(rows, documented{strings.Trim(strings.TrimSpace(cells[1]), "`"), v})
	}
	return rows
}

// TestLimitsDocument keeps docs/limits.md true and complete.
func TestLimitsDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]constants)
	for _, pkg := range limited {
		known[pkg] = readConstants(t, pkg)
	}
	said := make(map[string]bool)
	for _, row := range readLimits(t, string(text)) {
		if said[row.name] {
			t.Errorf("%s is listed twice", row.name)
		}
		said[row.name] = true
		slash := strings.LastIndex(row.name, "/") + 1
		dot := slash + strings.Index(row.name[slash:], ".")
		if dot < slash {
			t.Errorf("%s names no package", row.name)
			continue
		}
		c, name := known[row.name[:dot]], row.name[dot+1:]
		if c[name] == nil {
			t.Errorf("docs/limits.md lists %s, which does not exist", row.name)
			continue
		}
		v, err := c.value(c[name], 20)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
		} else if !constant.Compare(v, token.EQL, row.value) {
			t.Errorf("%s is %v, docs/limits.md says %v", row.name, v, row.value)
		}
	}
	var missing []string
	for pkg, c := range known {
		for name := range c {
			full := pkg + "." + name
			field := strings.HasPrefix(full, "occ/wire.DefaultLimits.")
			if (limitName.MatchString(name) && !strings.Contains(name, ".") || field) && !said[full] && noLimits[full] == "" {
				missing = append(missing, full)
			}
		}
	}
	slices.Sort(missing)
	for _, name := range missing {
		t.Errorf("docs/limits.md does not list %s", name)
	}
	for full := range noLimits {
		dot := strings.LastIndex(full, ".")
		if known[full[:dot]][full[dot+1:]] == nil || said[full] {
			t.Errorf("the exception for %s is not needed", full)
		}
	}
}

// TestLimitsAreEvaluated checks the check.
func TestLimitsAreEvaluated(t *testing.T) {
	c := make(constants)
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
const (
	a = 17 << 20
	b = a + 1
	c int64 = 7_000
	d = 3 * time.Second / 2
	e = int64(time.Hour / time.Microsecond)
	f = g
	g = f
	h = "text" + i
)
func L() T { return T{ X: 1 << 32, Y: b } }
`, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		c.add(decl)
	}
	for name, want := range map[string]int64{
		"a": 17 << 20, "b": 17<<20 + 1, "c": 7000, "d": 1_500_000_000, "e": 3_600_000_000, "L.X": 1 << 32, "L.Y": 17<<20 + 1,
	} {
		if v, err := c.value(c[name], 20); err != nil || !constant.Compare(v, token.EQL, constant.MakeInt64(want)) {
			t.Errorf("%s is %v, %v; want %d", name, v, err, want)
		}
	}
	for _, name := range []string{"f", "h"} {
		if v, err := c.value(c[name], 20); err == nil {
			t.Errorf("%s is %v", name, v)
		}
	}
	rows := readLimits(t, "# x\n| Name |\n| `a/b.C` | 1,024 | KiB | x | y |\n| `a.d` | 3 | s | x | y |\n| `a.e` | 5 | apples | x | y |\n")
	for i, want := range []string{"{a/b.C 1048576}", "{a.d 3000000000}", "{a.e 5}"} {
		if i >= len(rows) || fmt.Sprint(rows[i]) != want {
			t.Errorf("row %d of %v is not %s", i, rows, want)
		}
	}
}
