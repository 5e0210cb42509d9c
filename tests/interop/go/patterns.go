package main

import (
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var unicodeEscape = regexp.MustCompile(`\\u([0-9a-f]{4})`)

// compilePattern takes the one escape of the contract's patterns that Go's linear engine writes in another way.
func compilePattern(pattern string) (jsonschema.Regexp, error) {
	compiled, failure := regexp.Compile(unicodeEscape.ReplaceAllString(pattern, `\x{$1}`))
	if failure != nil {
		return nil, failure
	}
	return compiled, nil
}
