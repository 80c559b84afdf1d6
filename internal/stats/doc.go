// Package stats is the arithmetic of noisy timings: medians with order-statistic
// intervals, a block bootstrap whose resamples are shared by every row of a
// report, tests for growth, drift and two modes, and how many blocks are still
// needed.
//
// Three rules hold throughout. One observation is one process run; a block is
// one pass over all cells, and resampling draws whole blocks, so that whatever
// disturbed a block disturbs base and peak alike. NaN marks a missing
// observation and is skipped. A nil interval means "too few blocks to say", it
// is never replaced by a guess.
//
// Everything random is drawn from a seed made of the data (SeedOf), so the same
// capture always gives the same figures.
package stats

// Confidence is the level of every interval of this package.
const Confidence = 0.95

// MinBlocks is the fewest blocks for which an interval is given: the range of
// five values holds the median with 93.75% at most, that of six with 96.9%
// (METHOD 6.2).
const MinBlocks = 6

// Resamples is the usual number of bootstrap resamples: at 1000 the ends of a
// 95% interval stand on 25 resamples each.
const Resamples = 1000

// Interval is [low, high] at Confidence; nil where too few blocks ran.
type Interval = *[2]float64
