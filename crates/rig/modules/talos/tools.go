//go:build tools

// Package talos pins Talos, which the rig builds.
package talos

import (
	_ "github.com/siderolabs/talos/cmd/talosctl"
	_ "github.com/siderolabs/talos/internal/app/machined"
)
