package regions

// Canonical is Hyperplane.canonical.
var Canonical = Hyperplane.canonical
