// Reads a dashboard as Grafana's own types define it: unknown fields and wrong values are errors.
package main

import (
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		var read dashboard.Dashboard
		if err = read.UnmarshalJSONStrict(data); err == nil {
			err = read.Validate()
		}
	}
	// The SDK also returns errors without a text, where it has found nothing wrong.
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
