// Package examples has no code: its folders are programs to run and to copy, which docs/examples.md lists.
package examples
