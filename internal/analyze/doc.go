// Package analyze goes from a capture to its report. The stages, and the type
// at the end of each:
//
//  1. load reads the manifest's runs into cells, and the traces and CPU profiles
//     of profiled runs, several at a time, into observations (loaded, cell,
//     observation). Package lanes accounts for a trace, package classify names
//     the cause of a call path.
//  2. account turns each observation into shares of slot time by cause, which
//     sum to 1 (shares).
//  3. compare takes two cells of one target and multiplies shares with the slot
//     time of the timed runs: base, peak and excess of each cause (pair,
//     figures). Growth of the program's own work is divided by package memory.
//  4. intervals resamples blocks, the same for all rows, and says which grew
//     beyond noise (stats.Estimate).
//  5. experiments sets what the arms measured beside what the rows say
//     (report.Experiment), series fits the laws of package model.
//  6. judge names the cause to act on, or says that there is none or that the
//     evidence does not decide (report.Verdict).
//
// One direction only: a later stage never reaches back. Explain runs them all
// and returns a report.Report; package annotate writes the pprof files.
package analyze
