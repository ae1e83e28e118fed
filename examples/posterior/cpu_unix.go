//go:build unix

package main

import "syscall"

// cpuSeconds are the CPU seconds that the process has taken, user and system.
func cpuSeconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err) // its arguments are right
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
}
