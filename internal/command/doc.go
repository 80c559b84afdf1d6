// Package command runs a program that the user names: it makes a
// capture.Target whose runs start the program afresh at GOMAXPROCS = T.
//
// A batch command is timed as a whole, or between two lines that it prints. A
// server is started, waited for, and timed while a load command runs to its
// end. The stages of a run, each in a file of its own:
//
//	options   what the user asked for, checked before anything runs (Options)
//	address   where the program answers: this machine only, unless allowed (address)
//	program   a command in a process group of its own, its output and its end (program)
//	usage     what a process group has used, read before and after (reading)
//	profiles  CPU, mutex and block profiles and the trace, over HTTP (collector)
//	execute   one run of a batch command or of a server (Executor)
//
// Timed runs fetch nothing. What the program does not offer is missing from
// the run with one clear line, and its timing stays.
package command
