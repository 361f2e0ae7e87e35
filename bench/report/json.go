package report

import (
	"encoding/json"
	"io"

	"github.com/tidemark/tidemark/bench/exp"
)

// line is one line of JSON: the figures of one load under one setting by one
// kind of replay.
type line struct {
	Version    string   `json:"version"` // of the program
	Load       string   `json:"load"`
	Operations int64    `json:"operations"`
	Skipped    int64    `json:"skipped_lines"`
	Hosts      int      `json:"hosts"`
	Setting    string   `json:"setting"`
	Kind       string   `json:"kind"` // "sim" or "live"
	Conditions []string `json:"conditions"`
	*exp.Figures
}

// JSON writes a comparison as JSON lines, one for each setting and kind of
// replay.
func JSON(w io.Writer, c *Comparison, version string) error {
	enc := json.NewEncoder(w)
	for _, col := range c.Columns {
		for _, k := range []struct {
			kind    string
			figures *exp.Figures
		}{{"sim", col.Sim}, {"live", col.Live}} {
			if k.figures == nil {
				continue
			}
			err := enc.Encode(line{
				Version: version, Load: c.Load.Name, Operations: c.Load.Plan.Operations,
				Skipped: c.Load.Plan.Skipped, Hosts: len(c.Load.Plan.Hosts),
				Setting: col.Setting.String(), Kind: k.kind, Conditions: c.Conditions, Figures: k.figures,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
