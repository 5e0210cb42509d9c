// Judges every conformance vector with the published bundles, the two custom keywords and nothing else of ours.
//
// It takes the folder of the schemas as its argument, prints what it got wrong and ends with 1, or how many it got right.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const consumer = "go"

type vector struct {
	Description string            `json:"description"`
	Valid       bool              `json:"valid"`
	Data        json.RawMessage   `json:"data"`
	Raw         *string           `json:"raw_base64"`
	Differs     map[string]string `json:"differs"`
}

type file struct {
	Type  string   `json:"type"`
	Cases []vector `json:"cases"`
}

type bundle struct {
	ID   string                     `json:"$id"`
	Defs map[string]json.RawMessage `json:"$defs"`
}

func must[T any](value T, failure error) T {
	if failure != nil {
		fmt.Fprintln(os.Stderr, failure)
		os.Exit(2)
	}
	return value
}

func parsed[T any](path string) (out T) {
	raw := must(os.ReadFile(path))
	must(0, json.Unmarshal(raw, &out))
	return out
}

// bytes gives what a consumer receives.
func (v vector) bytes() []byte {
	if v.Raw == nil {
		return v.Data
	}
	return must(base64.StdEncoding.DecodeString(*v.Raw))
}

// judge tells whether bytes are strict JSON of a definition.
func judge(schema *jsonschema.Schema, raw []byte) bool {
	// A key twice, bytes that are no UTF-8 and lone surrogates are no JSON for this reader.
	if !jsontext.Value(raw).IsValid() {
		return false
	}
	value, failure := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	return failure == nil && schema.Validate(value) == nil
}

func main() {
	schemas := os.Args[1]
	compiler := jsonschema.NewCompiler()
	compiler.RegisterVocabulary(contractKeywords())
	compiler.AssertVocabs()
	compiler.UseRegexpEngine(compilePattern)
	var bundles []bundle
	for _, path := range must(filepath.Glob(filepath.Join(schemas, "bundle", "*.bundle.json"))) {
		bundles = append(bundles, parsed[bundle](path))
		document := must(jsonschema.UnmarshalJSON(bytes.NewReader(must(os.ReadFile(path)))))
		must(0, compiler.AddResource(bundles[len(bundles)-1].ID, document))
	}
	judged, mistakes := 0, 0
	for _, path := range must(filepath.Glob(filepath.Join(schemas, "vectors", "*", "*.json"))) {
		vectors := parsed[file](path)
		found := false
		for _, each := range bundles {
			if _, has := each.Defs[vectors.Type]; !has {
				continue
			}
			found = true
			schema := must(compiler.Compile(each.ID + "#/$defs/" + vectors.Type))
			for _, one := range vectors.Cases {
				_, differs := one.Differs[consumer]
				judged++
				if (judge(schema, one.bytes()) == one.Valid) == differs {
					mistakes++
					fmt.Printf("%s: %s\n", vectors.Type, one.Description)
				}
			}
		}
		if !found {
			mistakes++
			fmt.Printf("%s is in no bundle\n", vectors.Type)
		}
	}
	fmt.Printf("%d verdicts, %d wrong\n", judged, mistakes)
	if mistakes > 0 || judged == 0 {
		os.Exit(1)
	}
}
