// Package sealed writes values as JSON in a form that says what it is and shows
// any change to it.
//
// A file has two lines, each of JSON, so that tools for JSON lines read it too:
//
//	{"Format":"facet fit 4","Bytes":48213,"SHA256":"9f3c…"}     the head
//	{"Model":{…},"Settings":{…},…}                              the body, of so many bytes with its newline
//
// The digest is of what surrounds it,
//
//	SHA256 = SHA-256(Format + "\n" + body),
//
// and is compared before the body is parsed. So what [Read] accepts is what
// [Write] wrote, to the last bit; of everything else it says whether it is cut
// off, longer, damaged, or of another format. A digest is not a signature: who
// edits the body on purpose can make another.
package sealed
