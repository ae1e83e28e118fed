// Package cputime measures what a computation costs, whatever else the machine does.
package cputime
