//go:build long && !js

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// player is a page that plays with the page in a frame as a person would, and tells the test what it saw. The frame is as wide as
// a telephone, and at the end as a large screen: Chromium's own window gets no narrower than 500 pixels. It is as tall as the page, so that
// no bar to scroll takes of its width.
const player = `<!doctype html><iframe id="f" src="/index.html" style="border:0;width:400px;height:3000px"></iframe><script>
const sleep = ms => new Promise(r => setTimeout(r, ms)), frame = document.getElementById("f"), errors = [];
async function answered(d) { // the probability of a change, when the page has answered all that it was asked
  const text = d.getElementById("answer");
  while (text.dataset.answers !== text.dataset.asked) {
    if (/could not/.test(text.textContent)) throw new Error(text.textContent);
    await sleep(100);
  }
  return text.dataset.change;
}
frame.onload = async () => {
  try {
    const w = frame.contentWindow, d = w.document;
    w.addEventListener("error", e => errors.push(String(e.message)));
    const coal = await answered(d);
    d.querySelector("button[data-series=none]").click();
    const none = await answered(d);
    const svg = d.getElementById("picture"), box = svg.getBoundingClientRect();
    const pointer = (kind, x, y) => svg.dispatchEvent(new w.PointerEvent(kind, { clientX: box.left + x * box.width, clientY: box.top + y * box.height, pointerId: 1, bubbles: true }));
    const dots = () => Array.from(d.querySelectorAll("circle"), c => Number(c.getAttribute("cy")));
    const still = dots();
    pointer("pointerdown", 0.6, 0.1);
    for (let x = 0.6; x < 0.97; x += 0.01) pointer("pointermove", x, 0.08 + 0.04 * Math.random());
    pointer("pointerup", 0.96, 0.1);
    const moved = dots().filter((y, i) => y !== still[i]).length;
    const dragged = await answered(d);
    const words = d.getElementById("answer").textContent;
    d.getElementById("numbers").value = "1 2 x";
    d.getElementById("numbers").dispatchEvent(new w.Event("input"));
    const wrong = d.getElementById("answer").textContent;
    const screens = [];
    for (const width of [400, 1200]) {
      frame.style.width = width + "px";
      await sleep(300);
      const { width: w, height } = svg.getBoundingClientRect(), { scrollWidth, clientWidth } = d.documentElement;
      screens.push({ width: w, height, wide: scrollWidth - clientWidth, screen: clientWidth });
    }
    await fetch("/result", { method: "POST", body: JSON.stringify({
      coal: Number(coal), none: Number(none), dragged: Number(dragged), words, wrong, moved, errors, gaps: d.querySelectorAll(".gap").length,
      screens, version: d.getElementById("version").textContent }) });
  } catch (err) {
    await fetch("/result", { method: "POST", body: JSON.stringify({ errors: [String(err)] }) });
  }
};
</script>`

// In a browser the page loads, answers, and answers differently when points are dragged; on a telephone and on a large screen, without an
// error on the console. Compiling to WebAssembly, and compressing that, takes a minute.
func TestBrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	dir := t.TempDir()
	require.NoError(t, build(dir))
	if code, err := os.Stat(filepath.Join(dir, "facet.wasm.zst")); err == nil {
		t.Logf("facet.wasm.zst has %.2f MB", float64(code.Size())/1e6)
		require.Less(t, code.Size(), int64(6e6))
	}
	results := make(chan []byte, 1)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/player.html", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, player) })
	mux.HandleFunc("/result", func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		results <- b
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0",
		"--enable-logging=stderr", "--v=0", "--window-size=1300,900", "--user-data-dir="+t.TempDir(), server.URL+"/player.html")
	command.WaitDelay = time.Second
	var console bytes.Buffer
	command.Stderr = &console
	require.NoError(t, command.Start())
	var text []byte
	select {
	case text = <-results:
	case <-ctx.Done():
	}
	cancel()
	_ = command.Wait() // it was killed
	var got struct {
		Coal, None, Dragged   float64
		Words, Wrong, Version string
		Moved, Gaps           int
		Errors                []string
		Screens               []struct{ Width, Height, Wide, Screen float64 }
	}
	require.NoError(t, json.Unmarshal(text, &got), console.String())
	t.Logf("%s", text)
	require.Empty(t, got.Errors)
	require.Empty(t, regexp.MustCompile(`(?m)^.*CONSOLE.*$`).FindAllString(console.String(), -1))
	require.Greater(t, got.Coal, 0.99)
	require.Less(t, got.None, 0.5)
	require.Greater(t, got.Dragged, 0.95)
	require.Greater(t, got.Moved, 5)
	require.Equal(t, 23, got.Gaps)
	require.Contains(t, got.Words, "The level changed with probability ")
	require.Equal(t, "“x” is no number.", got.Wrong)
	require.NotEmpty(t, got.Version)
	require.Len(t, got.Screens, 2)
	for k, s := range got.Screens {
		require.Greater(t, s.Width, 350.0)
		require.Greater(t, s.Height, 100.0)
		require.EqualValues(t, []int{400, 1200}[k], s.Screen)
		require.Zero(t, s.Wide, "it scrolls to the side")
	}
}
