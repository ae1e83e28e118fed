// The second process, which fits.

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
)

// work is the second process.
func work(ctx context.Context) error {
	pool, err := extworker.StartLoopback(ctx, *worker)
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() { // the driver holds the other end
		bufio.NewReader(os.Stdin).ReadByte()
		close(gone)
	}()
	select {
	case <-ctx.Done():
	case <-gone:
	}
	return pool.Stop(context.Background())
}

// startWorker starts the second process, and calls gone if it ends before end is called.
func startWorker(gone func()) (address string, end func(), err error) {
	l, err := net.Listen("tcp", "localhost:0") // for a port that is free
	if err != nil {
		return "", nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	c := exec.Command(self, fmt.Sprintf("-serve=%d", port))
	c.Stderr = os.Stderr
	hold, err := c.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
		gone()
	}()
	end = func() {
		hold.Close()
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
	}
	address = fmt.Sprintf("localhost:%d", port)
	for range 300 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return address, end, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	end()
	return "", nil, errors.New("the worker does not answer")
}
