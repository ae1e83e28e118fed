//go:build !amd64

// Without a file in assembly, functions without a body would be errors.
