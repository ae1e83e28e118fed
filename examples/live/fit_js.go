package main

import (
	"context"
	"encoding/json"
	"runtime/debug"
	"syscall/js"
)

// main gives the worker of the page two functions: facetVersion() and facetFit(series), which takes and returns JSON.
func main() {
	js.Global().Set("facetVersion", js.FuncOf(func(js.Value, []js.Value) any {
		info, _ := debug.ReadBuildInfo()
		return info.Main.Version + ", " + info.GoVersion
	}))
	js.Global().Set("facetFit", js.FuncOf(func(_ js.Value, args []js.Value) any { return fit(args[0].String()) }))
	js.Global().Call("facetReady")
	select {}
}

// fit is an Answer, or {"error": why not}.
func fit(series string) string {
	var y []float64
	err := json.Unmarshal([]byte(series), &y)
	if err == nil {
		var a *Answer
		if a, err = answer(context.Background(), y, 1); err == nil {
			text, _ := json.Marshal(a) // numbers, all finite
			return string(text)
		}
	}
	text, _ := json.Marshal(map[string]string{"error": err.Error()})
	return string(text)
}
