package nfs

import "github.com/tidemark/tidemark/traces"

// Translator makes operations of a trace from exchanges, which must come in the
// order of their calls. It remembers what names stand for.
type Translator struct{}

// NewTranslator returns a Translator that knows no names.
func NewTranslator() *Translator { return &Translator{} }

// Translate appends the operations that come from an exchange to dst.
func (t *Translator) Translate(x *Exchange, dst []traces.Op) []traces.Op { return dst }

// Findings returns what was counted.
func (t *Translator) Findings() []traces.Finding { return nil }
