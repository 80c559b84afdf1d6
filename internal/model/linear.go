package model

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// linear is a weighted linear least squares fit with relative errors.
type linear struct {
	beta []float64
	cov  *mat.SymDense // of beta, for a relative error of variance 1; nil where singular
}

// fitLinear finds the beta that minimises the sum of ((y - x·beta)/w)^2. ok is
// false where the columns do not identify beta.
func fitLinear(x [][]float64, y, w []float64) (fit linear, ok bool) {
	n, p := len(x), len(x[0])
	if n < p {
		return linear{}, false
	}
	// Columns are scaled to unit length: N(N-1) is thousands of times 1.
	scale := make([]float64, p)
	a := mat.NewDense(n, p, nil)
	b := mat.NewVecDense(n, nil)
	for i := range x {
		for j, v := range x[i] {
			a.Set(i, j, v/w[i])
			scale[j] += v / w[i] * v / w[i]
		}
		b.SetVec(i, y[i]/w[i])
	}
	for j := range scale {
		if scale[j] = math.Sqrt(scale[j]); !(scale[j] > 0) || math.IsInf(scale[j], 0) {
			return linear{}, false
		}
		for i := range n {
			a.Set(i, j, a.At(i, j)/scale[j])
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	if qr.Cond() > 1e8 {
		return linear{}, false
	}
	var beta mat.VecDense
	if err := qr.SolveVecTo(&beta, false, b); err != nil {
		return linear{}, false
	}
	var ata mat.SymDense
	ata.SymOuterK(1, a.T())
	var chol mat.Cholesky
	if !chol.Factorize(&ata) {
		return linear{}, false
	}
	var cov mat.SymDense
	if err := chol.InverseTo(&cov); err != nil {
		return linear{}, false
	}
	fit.beta = make([]float64, p)
	for j := range p {
		fit.beta[j] = beta.AtVec(j) / scale[j]
		for k := j; k < p; k++ {
			cov.SetSym(j, k, cov.At(j, k)/(scale[j]*scale[k]))
		}
	}
	fit.cov = &cov
	return fit, true
}

// ratio is beta[i]/beta[0] with its standard error by the delta method, in units
// of the relative error.
func (l linear) ratio(i int) (value, se float64) {
	a, b := l.beta[0], l.beta[i]
	value = b / a
	v := l.cov.At(i, i) - 2*value*l.cov.At(0, i) + value*value*l.cov.At(0, 0)
	return value, math.Sqrt(math.Max(v, 0)) / math.Abs(a)
}
