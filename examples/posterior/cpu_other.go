//go:build !unix

package main

import "time"

var began = time.Now()

// cpuSeconds are the seconds since the start, where CPU time is not known.
func cpuSeconds() float64 { return time.Since(began).Seconds() }
