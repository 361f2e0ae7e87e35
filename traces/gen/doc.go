// Package gen makes traces from a seed: an hour with the shape of the first
// hour of the Berkeley Auspex trace, and a short dense load for tests and
// measurements. It is pure: the same parameters give the same operations. Those
// of the hour are the same on every machine, because it computes in integers.
// docs/loads.md says where each number is from.
package gen
