//go:build unix

package cputime

import "syscall"

// Seconds are the CPU seconds that the process has taken, user and system.
func Seconds() float64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic("cputime: " + err.Error()) // its arguments are right
	}
	return float64(use.Utime.Nano()+use.Stime.Nano()) / 1e9
}
