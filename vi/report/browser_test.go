//go:build long

package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/facetvi/facet/graph"
	"github.com/facetvi/facet/vi"
)

// measuring is a script that a page is given in the test: it writes into the page what a reader would see of its pictures and tables,
// and presses the first button.
const measuring = `<script>
window.addEventListener("load", () => {
  document.querySelectorAll("details").forEach(d => { d.open = true; });
  const pictures = Array.from(document.querySelectorAll("svg"), s => s.getBoundingClientRect());
  const small = pictures.filter(r => !(r.width > 150) || !(r.height > 50)).length;
  const tables = document.querySelectorAll("table").length, buttons = document.querySelectorAll("button.copy").length;
  document.querySelector("button.copy").click();
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const seen = document.querySelector(".verdict").getBoundingClientRect().height > 20;
  const dark = parseInt(getComputedStyle(document.body).backgroundColor.match(/\d+/)[0]) < 128;
  const measured = ["pictures", pictures.length, "small", small, "tables", tables, "buttons", buttons, "wide", wide, "seen", seen, "dark", dark, "at", document.documentElement.clientWidth].join(" ");
  parent.document.body.dataset.text = document.body.innerText;
  parent.document.body.dataset.measured = measured;
});
</script></body>`

// framed is a page with the page in a frame as wide as the screen, for Chromium's own window gets no narrower than 500 pixels.
func framed(page string, view screen) string {
	return fmt.Sprintf(`<!DOCTYPE html><html style="color-scheme: light dark"><body style="margin:0"><iframe style="border:0; width:%dpx; height:40000px" srcdoc="%s"></iframe></body></html>`,
		view.width, html.EscapeString(page))
}

// In a browser a page has no errors, its pictures have a size, every table a button, and it does not scroll to the side: on a
// telephone, on a large screen, light and dark. It can be printed.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	telephone, desk, dark := screen{400, false}, screen{1200, false}, screen{1200, true}
	for _, c := range []struct {
		name  string
		model *graph.Model
		views []screen
	}{{"a change", changing(readings), []screen{telephone}}, {"awkward", awkward(), []screen{telephone, desk, dark}}} {
		fit := fitted(t, c.model, vi.Settings{Seed: 1, Method: vi.Cells{Alone: true}})
		page := written(t, fit, Options{Title: c.name})
		for _, view := range c.views {
			dom, console := open(t, chromium, framed(strings.Replace(page, "</body>", measuring, 1), view), view, "--dump-dom")
			assert.Empty(t, console)
			found := measured.FindStringSubmatch(dom)
			require.NotNil(t, found, c.name)
			assert.NotEqual(t, "0", found[1], "pictures")
			assert.Equal(t, "0", found[2], "pictures without a size")
			assert.Equal(t, found[3], found[4], "a button for each table")
			assert.Equal(t, "0", found[5], "to scroll to the side")
			assert.Equal(t, "true", found[6], "the verdict is seen")
			assert.Equal(t, fmt.Sprint(view.dark), found[7], "dark")
			assert.Equal(t, fmt.Sprint(view.width), found[8], "wide in pixels, and no bar to scroll")
			assert.Contains(t, html.UnescapeString(dom), fit.Summary().Verdict.Reasons[0])
		}
		file := filepath.Join(t.TempDir(), "page.pdf")
		_, console := open(t, chromium, page, telephone, "--print-to-pdf="+file)
		assert.Empty(t, console)
		pdf, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(pdf, []byte("%PDF-")))

		if c.name == "a change" { // what is wrong is seen
			faults := `<svg style="width:9px"></svg><div style="width:3000px">wide</div><script>nothing.there()</script></body>`
			dom, console := open(t, chromium, framed(strings.Replace(page, "</body>", faults+measuring, 1), telephone), telephone, "--dump-dom")
			found := measured.FindStringSubmatch(dom)
			assert.NotEmpty(t, console)
			assert.Equal(t, "1", found[2], "pictures without a size")
			assert.NotEqual(t, "0", found[5], "to scroll to the side")
		}
	}
}

// A screen is so many pixels wide.
type screen struct {
	width int
	dark  bool
}

var measured = regexp.MustCompile(`data-measured="pictures (\d+) small (\d+) tables (\d+) buttons (\d+) wide (\d+) seen (\w+) dark (\w+) at (\d+)"`)

// open opens a page in the browser, and returns its output and the messages of its console.
func open(t *testing.T, chromium, page string, view screen, flags ...string) (out string, console []string) {
	t.Helper()
	dir, scheme := t.TempDir(), "1"
	if view.dark {
		scheme = "0"
	}
	file := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
	flags = append(flags, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
		"--window-size=1300,900", "--blink-settings=preferredColorScheme="+scheme, "--user-data-dir="+filepath.Join(dir, "profile"), "file://"+file)
	command := exec.CommandContext(t.Context(), chromium, flags...)
	command.WaitDelay = time.Second
	var output, errors bytes.Buffer
	command.Stdout, command.Stderr = &output, &errors
	require.NoError(t, command.Run(), errors.String())
	return output.String(), regexp.MustCompile(`(?m)^.*CONSOLE.*$`).FindAllString(errors.String(), -1)
}
