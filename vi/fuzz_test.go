package vi

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLoad loads bodies of saved fits as if their digests and models were right.
// What is accepted is a fit: it can be summed up, saved to the same bytes, and gone
// on with.
func FuzzLoad(f *testing.F) {
	d := small(f, "x", 1, 0, 2, 3)
	stopped, stop := context.WithCancel(context.Background())
	stop()
	f.Fuzz(func(t *testing.T, body []byte) {
		var s savedFile
		if json.Unmarshal(body, &s) != nil {
			return
		}
		p, err := s.of(d, nil)
		if err != nil {
			return
		}
		var file, again bytes.Buffer
		require.NoError(t, p.Save(&file))
		q, err := Load(bytes.NewReader(file.Bytes()), d)
		require.NoError(t, err)
		require.NoError(t, q.Save(&again))
		require.Equal(t, file.String(), again.String())
		require.NotEmpty(t, p.Summary().String())
		if len(p.states) != p.Settings.climb().Restarts { // more restarts take what they take
			return
		}
		done, err := p.Resume(stopped)
		if err == nil { // nothing was left to do
			requireSameFit(t, p, done)
		} else {
			require.ErrorContains(t, err, "vi: ")
		}
	})
}
