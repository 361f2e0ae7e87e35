package exp

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tidemark/tidemark/client"
)

func TestSettingsReadBack(t *testing.T) {
	for _, c := range []struct {
		text, prints, title string
		want                Setting
	}{
		{"occ", "occ", "conventional OCC", Setting{Mode: client.Conventional}},
		{"occ-passive", "occ-passive", "conventional OCC, passive", Setting{Mode: client.Conventional, NoActiveAborts: true}},
		{"inf", "inf", "ε = ∞", Setting{Epsilon: client.Unbounded}},
		{"2s", "2s", "ε = 2 s", Setting{Epsilon: 2 * time.Second}},
		{"100ms", "100ms", "ε = 0.1 s", Setting{Epsilon: 100 * time.Millisecond}},
		{"1m30s-passive", "1m30s-passive", "ε = 90 s, passive", Setting{Epsilon: 90 * time.Second, NoActiveAborts: true}},
		{"0", "0s", "ε = 0", Setting{}},
		{"0s", "0s", "ε = 0", Setting{}},
	} {
		got, err := ParseSetting(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q is %+v, %v", c.text, got, err)
		}
		if got.String() != c.prints || got.Title() != c.title {
			t.Errorf("%q prints as %q and %q", c.text, got, got.Title())
		}
		if again, err := ParseSetting(got.String()); err != nil || again != got {
			t.Errorf("%q printed and read is %+v, %v", c.text, again, err)
		}
	}
	for _, s := range Standard() {
		if again, err := ParseSetting(s.String()); err != nil || again != s {
			t.Errorf("%v printed and read is %+v, %v", s, again, err)
		}
	}
}

func TestSettingsThatAreNone(t *testing.T) {
	for _, text := range []string{"", "OCC", "-1s", "2", "fast", "passive", "-passive", "occ-passive-passive", "2s ", "1e99h"} {
		s, err := ParseSetting(text)
		if err == nil {
			t.Errorf("%q is %+v", text, s)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, `"`+text+`"`) || strings.Contains(msg, "\n") {
			t.Errorf("%q: %q does not name it in one line", text, msg)
		}
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-3*math.Abs(want) }
