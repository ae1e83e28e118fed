//go:build !js

// Live is a page to play with: a person draws or pastes a series of numbers in the browser, and sees whether its level has changed, when, and
// by how much, while points are dragged. The fits are made in the browser, by this program compiled to WebAssembly: what serves the
// page need only serve files.
//
//	go run ./examples/live                     serves the page on this computer
//	go run ./examples/live -out site           writes its files into a folder, 5.5 MB with the command zstd, 7.5 without
//
//	page.js ─▶ worker.js ─▶ facetFit: no change or one (answer.go) ─▶ vi.Fit ─▶ probabilities and bands
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
)

func run(out, address string) error {
	folder := out
	if out == "" {
		var err error
		if folder, err = os.MkdirTemp("", "facet-live"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	if err := build(folder); err != nil || out != "" {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Printf("The page is at http://%v\n", l.Addr())
	return http.Serve(l, http.FileServer(http.Dir(folder)))
}

func main() {
	out := flag.String("out", "", "`folder` for the files of the page, instead of serving it")
	address := flag.String("http", "localhost:8080", "`address` to serve the page on")
	flag.Parse()
	if err := run(*out, *address); err != nil {
		log.Fatal(err)
	}
}
