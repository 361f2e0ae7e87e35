package main

import (
	"errors"

	"github.com/alecthomas/kong"
)

// directory is the name of a data directory. An empty one is refused: most
// likely it is a variable of a script that is not set, and to go on with the
// current directory would be a guess.
type directory string

// Decode implements kong.MapperValue.
func (d *directory) Decode(ctx *kong.DecodeContext) error {
	var name string
	if err := ctx.Scan.PopValueInto("directory", &name); err != nil {
		return err
	}
	if name == "" {
		return errors.New("a directory needs a name")
	}
	*d = directory(name)
	return nil
}

// absolute is the directory's name for messages that are read elsewhere than
// they come from. ~/ is the home directory, where the shell did not see it.
func (d directory) absolute() string { return kong.ExpandPath(string(d)) }
