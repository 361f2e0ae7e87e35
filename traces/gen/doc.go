// Package gen makes traces from a seed: an hour with the shape of the first
// hour of the Berkeley Auspex trace, and a short dense load for tests and
// measurements. It is pure and does arithmetic in integers where a result
// could depend on the machine: the same parameters give the same operations
// everywhere. docs/loads.md says where each number is from.
package gen
