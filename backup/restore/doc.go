// Package restore makes a data directory of backups: a store as it was at the
// timestamp of the last of them, with the same id, in a later epoch, by which
// clients notice that it has gone back.
package restore
