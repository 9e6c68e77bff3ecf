module seaworthy.dev/rig/net

go 1.26.0
