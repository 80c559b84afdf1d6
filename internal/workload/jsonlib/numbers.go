package jsonlib

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// The numbers document: measurements and an outline of coordinates, about
// 12 kB, nearly all of it floats of 15 to 17 digits and some integers.
type (
	measurements struct {
		Name     string       `json:"name"`
		Series   []series     `json:"series"`
		Outline  [][2]float64 `json:"outline"`
		Checksum int64        `json:"checksum"`
	}

	series struct {
		Sensor  string    `json:"sensor"`
		StartMS int64     `json:"start_ms"`
		StepMS  float64   `json:"step_ms"`
		Values  []float64 `json:"values"`
		Counts  []int     `json:"counts"`
	}
)

const (
	numbersSeries = 8
	numbersValues = 40
	numbersPoints = 96
)

// numbersDocument is generated from a fixed seed: the same bytes on every machine.
func numbersDocument() *document {
	r := rand.New(rand.NewPCG(8, 12_000))
	m := &measurements{Name: "field campaign", Checksum: 9_007_199_254_740_993}
	for i := range numbersSeries {
		s := series{Sensor: fmt.Sprintf("sensor-%02d", i), StartMS: 1_700_000_000_000 + r.Int64N(1_000_000), StepMS: 0.25 * float64(1+i)}
		for range numbersValues {
			s.Values = append(s.Values, r.NormFloat64()*math.Pow(10, float64(r.IntN(7)-3)))
			s.Counts = append(s.Counts, r.IntN(100_000))
		}
		m.Series = append(m.Series, s)
	}
	for range numbersPoints {
		m.Outline = append(m.Outline, [2]float64{-65 + 10*r.Float64(), 43 + 10*r.Float64()})
	}
	return &document{
		name:   "numbers",
		value:  m,
		fresh:  func() any { return new(measurements) },
		probes: numbersPoints,
		probe: func(filled any, k int) uint64 {
			m := filled.(*measurements)
			if k >= len(m.Outline) || len(m.Series) == 0 {
				return 0
			}
			value := math.Float64bits(m.Outline[k][0]) + math.Float64bits(m.Outline[k][1])
			s := &m.Series[k%len(m.Series)]
			if at := k / len(m.Series); at < len(s.Values) && at < len(s.Counts) {
				value += math.Float64bits(s.Values[at]) + uint64(s.Counts[at])
			}
			return value
		},
	}
}
