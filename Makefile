# Targets need Go (see go.mod for the version) and make; the race detector also a C compiler.

GO        ?= go
FUZZTIME  ?= 10s
FUZZPKGS  ?= ./...
FUZZJOBS  ?= 2
BENCHTIME ?= 1s
COUNT     ?= 1
ROUNDS    ?= 200
SIZE_GIB  ?= 20
SEED      ?= 0
ARGS      ?=

# The packages with goroutines, locks or processes.
CONCURRENT = ./client/... ./backup/... ./server/... ./bench/live ./bench/chaos ./fsim/replay

.PHONY: all bench test race chaos storage fuzz lint generate microbench tracecheck build clean

all: build

build:
	$(GO) build -o bin/tidemark ./cmd/tidemark

# Replay the bundled NFS trace and the generated hour under conventional OCC and read-optimized OCC with
# ε = 2 s, 0.1 s and 0, and print the comparison. ARGS are flags for "tidemark bench".
bench: build
	./bin/tidemark bench $(ARGS)

test:
	$(GO) test -timeout 15m ./...

race:
	$(GO) test -race -short -timeout 15m $(CONCURRENT)
	$(GO) test -race -short -timeout 15m -skip TestScripts ./cmd/tidemark # whose commands are tested above

# Kill the server and cut connections under clients that count, and kill the server under a replay, ROUNDS times
# each; compare the counters with what was acknowledged, and check the file system. The short version is part of
# "make test". A seed that it prints can be given as SEED.
chaos:
	$(GO) test ./bench/chaos -count 1 -v -timeout 60m -run 'Kills|Connections' -rounds $(ROUNDS) -seed $(SEED)
	$(GO) test ./bench/live -count 1 -v -timeout 60m -run Kills -rounds $(ROUNDS) -seed $(SEED)

# Measure a server on disk: a store of SIZE_GIB GiB in less than 1 GB of memory, disk space after a million overwrites of 100 MiB,
# commits of 64 clients beside a bare program, and commits during checkpoints. The short version is part of "make test".
storage:
	$(GO) test ./bench/storage -count 1 -v -timeout 120m -gib $(SIZE_GIB) -memory 256 -memorylimit 850 -workingset 100 -overwrites 1000000
	$(GO) test ./bench/storage -run '^$$' -bench . -benchtime 1x -count $(COUNT) -timeout 60m

# Run every fuzz target of FUZZPKGS for FUZZTIME, FUZZJOBS of them side by side, each on one core. Inputs that are
# new are not minimized, which can take longer than that.
fuzz:
	@set -e; targets=$$(for pkg in $$($(GO) list $(FUZZPKGS)); do \
		found=$$($(GO) test -list '^Fuzz' $$pkg) || exit 1; \
		for target in $$(echo "$$found" | grep '^Fuzz'); do echo "$$pkg $$target"; done; \
	done); test -n "$$targets"; \
	echo "$$targets" | xargs -P $(FUZZJOBS) -L 1 sh -c 'echo "== $$0 $$1"; \
		exec $(GO) test -run "^$$" -fuzz "^$$1$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x -parallel 1 "$$0"'

# Micro-benchmarks with allocations: "make microbench COUNT=10 > new.txt", then "go tool benchstat old.txt new.txt".
microbench:
	@$(GO) test -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(COUNT) ./...

# Compare what the readers make of the traces in DIR with the counts in its README.md.
tracecheck:
	$(GO) run ./cmd/tracecheck $(DIR)

lint:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt would change:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff
	$(GO) mod verify

generate:
	$(GO) generate ./...

clean:
	rm -rf bin out
