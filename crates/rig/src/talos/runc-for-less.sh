#!/bin/sh
# Stands before runc where the host gives fewer rights than Talos counts on,
# and drops what would be refused from the container's description. Control
# groups of version 1 are many mounts, of which a plain bind shows none.
bundle= last= making=
for word in "$@"; do
    case "$last" in --bundle|-b) bundle=$word ;; esac
    case "$word" in create|run) making=yes ;; esac
    last=$word
done
if [ "$making" ] && [ -f "$bundle/config.json" ]; then
    sed -i -E \
        -e 's/"oomScoreAdj":-[0-9]+,//; s/,"oomScoreAdj":-[0-9]+//' \
        -e 's/"rlimits":\[[^]]*\],//; s/,"rlimits":\[[^]]*\]//' \
        -e 's#("source":"/sys/fs/cgroup","options":\[)"bind"#\1"rbind"#' \
        "$bundle/config.json"
fi
exec /rig/runc "$@"
