//go:build tools

// Package tools pins actionlint, which `make check` runs on the workflows.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
