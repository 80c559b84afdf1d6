// Package gobench makes targets of a Go package's benchmarks.
//
// The test binary is built by the user's own go command with an overlay that
// changes package testing alone: a driver in it, which is asleep in any other
// process, runs the benchmark with the recorder of built-in workloads around
// it. Nothing is written into the user's module, and nothing in it has to be
// wrapped: benchmarks of internal and external test packages, under a TestMain,
// of dependencies and of the standard library are all run by package testing.
//
// The driver runs a benchmark's iterations, the same number at every T, thus:
//
//   - one that calls RunParallel once: T goroutines, whatever GOMAXPROCS is, in
//     chunks as a long time-based run would take them. They are the lanes, and
//     the window is RunParallel.
//   - a serial one, where asked for: T copies of the function at once, each its
//     share. The window is what the function's own timer covers.
//   - one that starts goroutines of its own: T is GOMAXPROCS, and the lanes are
//     the Ps.
package gobench
