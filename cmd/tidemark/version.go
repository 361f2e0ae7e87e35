package main

import (
	"fmt"
	"runtime/debug"

	"github.com/tidemark/tidemark/occ/wire"
)

type versionCmd struct{}

func (*versionCmd) Run(env *environment) error {
	_, err := fmt.Fprintf(env.stdout, "tidemark %s\nprotocol %d\n", version(), wire.Version)
	return err
}

// version is the module's version or the commit that the program was built
// from, as the toolchain recorded it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
	}
	return v
}
