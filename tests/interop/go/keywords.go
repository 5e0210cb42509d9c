package main

import (
	"encoding/json"
	"reflect"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
)

type fault string

func (f fault) KeywordPath() []string { return []string{string(f)} }
func (f fault) LocalizedString(printer *message.Printer) string {
	return printer.Sprintf("breaks %s", string(f))
}

// maxUtf8Bytes bounds the bytes of a text.
type maxUtf8Bytes int64

func (limit maxUtf8Bytes) Validate(ctx *jsonschema.ValidatorContext, value any) {
	if text, is := value.(string); is && int64(len(text)) > int64(limit) {
		ctx.AddError(fault("x-maxUtf8Bytes"))
	}
}

// notEqual names pairs of members that must differ where both are there.
type notEqual [][2]string

func (pairs notEqual) Validate(ctx *jsonschema.ValidatorContext, value any) {
	object, is := value.(map[string]any)
	if !is {
		return
	}
	for _, pair := range pairs {
		if left := object[pair[0]]; left != nil && reflect.DeepEqual(left, object[pair[1]]) {
			ctx.AddError(fault("x-notEqual"))
		}
	}
}

type both struct{ extensions []jsonschema.SchemaExt }

func (b both) Validate(ctx *jsonschema.ValidatorContext, value any) {
	for _, extension := range b.extensions {
		extension.Validate(ctx, value)
	}
}

// contractKeywords are the two keywords of the contract that validate.
func contractKeywords() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "https://mail4agent.invalid/vocabulary",
		Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
			var found both
			if limit, has := schema["x-maxUtf8Bytes"]; has {
				number, failure := limit.(json.Number).Int64()
				if failure != nil {
					return nil, failure
				}
				found.extensions = append(found.extensions, maxUtf8Bytes(number))
			}
			if named, has := schema["x-notEqual"]; has {
				var pairs notEqual
				for _, pair := range named.([]any) {
					pairs = append(pairs, [2]string{pair.([]any)[0].(string), pair.([]any)[1].(string)})
				}
				found.extensions = append(found.extensions, pairs)
			}
			if found.extensions == nil {
				return nil, nil
			}
			return found, nil
		},
	}
}
