package report

import (
	"strings"
	"testing"
)

func TestCombinedText(t *testing.T) {
	shares := []ArmShare{{Arm: "gogc=400", Cores: 0.3, CI: &[2]float64{0.2, 0.4}}, {Arm: "pin", Cores: 0.1, CI: &[2]float64{0, 0.2}}}
	for want, c := range map[string]Combined{
		"0.20 less than one at a time":         {Shares: shares, All: 0.4, AllCI: &[2]float64{0.3, 0.5}, Interaction: -0.2, InteractionCI: &[2]float64{-0.3, -0.1}},
		"0.20 more than one at a time":         {Shares: shares, All: 0.4, Interaction: 0.2, InteractionCI: &[2]float64{0.1, 0.3}},
		"act on each other is not seen":        {Shares: shares, All: 0.4, Interaction: 0.02, InteractionCI: &[2]float64{-0.1, 0.1}},
		"together give back 0.40; in any":      {Shares: shares, All: 0.4},
		"gogc=400 0.30 (0.20 to 0.40), pin 0.": {Shares: shares, All: 0.4},
	} {
		if got := combinedText(&c); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
