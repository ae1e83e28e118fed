package vec

import "golang.org/x/sys/cpu"

// useAVX2 is a variable for tests, which try both paths.
var useAVX2 = cpu.X86.HasAVX2

// useAVX512 is one, too. Only Normals gains by it.
var useAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ
