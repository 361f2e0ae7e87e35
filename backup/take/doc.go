// Package take makes a backup of a store that a server serves: of one timestamp,
// while commits go on.
package take
