package main

import "github.com/urfave/cli/v3"

// commands lists the commands in the order that help shows them. Each lives in
// a file of its name, which parses, wires and calls one internal package.
func commands(env *environment) []*cli.Command {
	return []*cli.Command{
		captureCommand(env),
		listCommand(env),
		explainCommand(env),
		checkCommand(env),
		diffCommand(env),
		doctorCommand(env),
		selftestCommand(env),
		exportCommand(env),
		importCommand(env),
		childCommand(),
	}
}
