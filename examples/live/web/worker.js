// The worker has facet in it. It says how much of it is loaded, when it is ready, and answers each series.
importScripts("wasm_exec.js", "fzstd.js");

async function load(name) {
  const response = await fetch(name);
  if (!response.ok) return null;
  const all = Number(response.headers.get("Content-Length")), parts = [];
  let got = 0;
  for (const reader = response.body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    got += value.length;
    postMessage({ loaded: all ? got / all : 0 });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function code() {
  const small = await load("facet.wasm.zst");
  if (small) return fzstd.decompress(small);
  const large = await load("facet.wasm.gz");
  if (!large) throw new Error("neither facet.wasm.zst nor facet.wasm.gz is there");
  const stream = new Blob([large]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

self.facetReady = () => postMessage({ ready: facetVersion() });

onmessage = event => {
  const start = performance.now();
  const answer = JSON.parse(facetFit(JSON.stringify(event.data.y)));
  postMessage({ id: event.data.id, answer, seconds: (performance.now() - start) / 1000 });
};

(async () => {
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(await code(), go.importObject);
  go.run(instance);
})().catch(err => postMessage({ failed: String(err) }));
