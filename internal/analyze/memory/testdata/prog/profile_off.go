//go:build !profile

package main

func profile() (stop func()) { return func() {} }
