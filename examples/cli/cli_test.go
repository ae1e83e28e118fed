package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/facetvi/facet/examples/cli"
)

// echo is an example that prints its flags.
func echo(_ context.Context, args []string, out, _ io.Writer) error {
	flags := cli.New("echo")
	steps, seed := flags.Steps(100, "steps"), flags.Seed()
	draws := flags.Count("draws", 10, 2, "draws")
	if err := flags.Parse(args, out); err != nil {
		return err
	}
	if *steps == 13 {
		return errors.New("bad luck")
	}
	if *seed == 13 {
		return flags.Wrong(errors.New("-seed 13: not that one"))
	}
	fmt.Fprintln(out, *steps, *seed, *draws)
	return nil
}

func TestCall(t *testing.T) {
	const help = "; -h lists the flags\n"
	for _, c := range []struct {
		args        []string
		code        int
		out, errOut string
	}{
		{nil, 0, "100 1 10\n", ""},
		{[]string{"-steps", "7", "-seed", "2", "-draws", "2"}, 0, "7 2 2\n", ""},
		{[]string{"-steps", "0"}, 2, "", `echo: invalid value "0" for flag -steps: must be at least 1` + help},
		{[]string{"-draws", "1"}, 2, "", `echo: invalid value "1" for flag -draws: must be at least 2` + help},
		{[]string{"-steps", "many"}, 2, "", `echo: invalid value "many" for flag -steps: not a whole number` + help},
		{[]string{"-nonsense"}, 2, "", "echo: flag provided but not defined: -nonsense" + help},
		{[]string{"-steps"}, 2, "", "echo: flag needs an argument: -steps" + help},
		{[]string{"7"}, 2, "", `echo: unexpected argument "7"` + help},
		{[]string{"-seed", "13"}, 2, "", "echo: -seed 13: not that one" + help},
		{[]string{"-steps", "13"}, 1, "", "bad luck\n"},
	} {
		var out, errOut bytes.Buffer
		assert.Equal(t, c.code, cli.Call(context.Background(), echo, c.args, &out, &errOut), "%v", c.args)
		assert.Equal(t, c.out, out.String(), "%v", c.args)
		assert.Equal(t, c.errOut, errOut.String(), "%v", c.args)
	}
}

func TestHelp(t *testing.T) {
	var out, errOut bytes.Buffer
	assert.Zero(t, cli.Call(context.Background(), echo, []string{"-h"}, &out, &errOut))
	assert.Empty(t, errOut.String())
	for _, want := range []string{"Flags of echo:", "-steps n", "(default 100)", "-seed seed"} {
		assert.Contains(t, out.String(), want)
	}
	assert.NotContains(t, out.String(), "panic")
}
