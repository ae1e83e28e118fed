//go:build !amd64

package vec

func setLoops(bool, bool) {} // there is a choice on amd64 alone
