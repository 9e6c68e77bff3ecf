//! Addons are stand-ins for their charts so far: right for a rehearsal, and useless
//! on real machines.

use std::path::Path;

use lifecycle::quoted;
use spec::Cluster;

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Refuses to build a real cluster with stand-ins.
pub(crate) fn refuse(cluster: &Cluster, file: &Path) -> Result<(), CommandError> {
    let ours = cluster.addons.iter().filter(|addon| !addon.is_by_gitops());
    let names: Vec<String> = ours.map(|addon| addon.name.value.to_string()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let message = format!(
        "up would install stand-ins for {}, which only work in a rehearsal; nothing was made",
        names.join(", ")
    );
    let rehearse = format!("seaworthy rehearse {}", quoted(&file.display().to_string()));
    Err(CommandError::say(Exit::Usage, message)
        .hint(
            "render the chart of each (`helm template`), name the file under `manifests:` (a pod \
             network with `after: api`), and remove it from `addons:`",
        )
        .hint(format!("`{rehearse}` builds the cluster with stand-ins in a simulated world"))
        .hint("for a world that `seaworthy sim` runs, name its file: `--world FILE`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../spec/tests/bases/hetzner.yaml");

    fn refused(text: &str) -> Result<(), String> {
        let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().ok().unwrap();
        refuse(&cluster, Path::new("prod.yaml")).map_err(|error| error.message())
    }

    #[test]
    fn stand_ins_are_refused_by_name() {
        let told = refused(FILE).unwrap_err();
        assert!(told.contains("stand-ins for cilium, hcloud-ccm, hcloud-csi,"), "{told}");
    }

    #[test]
    fn charts_that_come_as_manifests_are_no_stand_ins() {
        let addons = FILE.find("  addons:").unwrap();
        let manifests = "  manifests: [{ name: network, path: network.yaml, after: api }]\n";
        assert_eq!(refused(&format!("{}{manifests}", &FILE[..addons])), Ok(()));
    }
}
