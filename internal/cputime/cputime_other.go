//go:build !unix

package cputime

import "time"

var began = time.Now()

// Seconds are the seconds since the start, where CPU time is not known.
func Seconds() float64 { return time.Since(began).Seconds() }
