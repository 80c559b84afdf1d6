package kernel

// The loops walk linear congruential sequences, x' = a*x + c, because their n-th value
// has a closed form: so every run can be checked without being repeated.

// step is the function x -> a*x + c, modulo 2^64.
type step struct{ a, c uint64 }

// power is the step taken n times, by repeated squaring: (a,c) after (b,d) is (a*b, a*d + c).
func (s step) power(n uint64) step {
	out := step{1, 0}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = step{s.a * out.a, s.a*out.c + s.c}
		}
		s = step{s.a * s.a, s.a*s.c + s.c}
	}
	return out
}

func (s step) at(x uint64) uint64 { return s.a*x + s.c }

// The multiplier and increment are Knuth's MMIX generator's: of full period modulo
// every power of two, as a = 1 (mod 4) and c is odd.
const (
	lcgA = 6364136223846793005
	lcgC = 1442695040888963407
)
