module seaworthy.dev/rig/pod

go 1.26.0
