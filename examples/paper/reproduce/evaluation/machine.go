package evaluation

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// A machine is where and with what the numbers were made.
type machine struct {
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	Processors int               `json:"gomaxprocs"`
	OS         string            `json:"os"`
	Go         string            `json:"go"`
	Modules    map[string]string `json:"modules"`
}

// listedModules are those whose versions the report states.
var listedModules = []string{"github.com/facetvi/facet", "gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum", "gonum.org/v1/plot"}

func thisMachine() machine {
	m := machine{
		CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Processors: runtime.GOMAXPROCS(0),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(), Modules: Modules(),
	}
	if name := field("/proc/cpuinfo", "model name", ":"); name != "" {
		m.CPU = name
	}
	if name := field("/etc/os-release", "PRETTY_NAME", "="); name != "" {
		m.OS = strings.Trim(name, `"`) + ", " + m.OS
	}
	return m
}

// Modules are the versions of those modules of the program that matter for its numbers. A test's binary of this package knows none.
func Modules() map[string]string {
	modules, versions := map[string]string{}, map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return modules
	}
	versions[info.Main.Path] = info.Main.Version
	for _, d := range info.Deps {
		versions[d.Path] = d.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			versions[info.Main.Path] += " " + s.Value
		}
	}
	for _, name := range listedModules {
		if v := strings.TrimSpace(versions[name]); v != "" {
			modules[name] = v
		}
	}
	return modules
}

// field is the value of the first line "key <separator> value" of a file, or ""
// if there is none, as on systems without such a file.
func field(file, key, separator string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		k, v, ok := strings.Cut(line, separator)
		if ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
