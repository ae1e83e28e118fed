// Package safefile replaces files so that a reader finds the old content or the
// new, whole, whatever happens in between, and keeps two writers apart.
//
// [Replace] writes beside the file and renames at the end; [Lock] holds a
// sidecar for as long as somebody may call Replace:
//
//	fit.json                 the old content, until the rename
//	.fit.json.K3VQ….part     the new content, being written
//	fit.json.lock            held by the one who writes fit.json
//
// Only regular files are replaced. A symbolic link stays: what it points to is
// replaced, in the folder where that lies. A process that is killed leaves at
// most a part, which the next Lock removes, and a sidecar that nobody holds.
package safefile
