//! Credentials in the state folder, for the commands that a failed run prints.
//!
//! The secrets bundle lies in the same folder, so that these files give nobody
//! more than they had.

use std::path::PathBuf;

use events::{Secret, private};
use talos::credentials::{Context, Kubeconfig, Talosconfig};

use crate::Site;

/// Writes a kubeconfig that leads to the control plane that answered last, and
/// returns where. None where no control plane has answered.
pub(crate) fn kubeconfig(site: &Site) -> Option<PathBuf> {
    let (server, admin) = (site.api()?, site.known_kubernetes_admin()?);
    let cluster = site.plan.cluster.to_string();
    write(site, "kubeconfig", Kubeconfig::new(&cluster, &server, admin).yaml())
}

/// Writes a talosconfig for the nodes whose addresses are known, and returns where.
pub(crate) fn talosconfig(site: &Site) -> Option<PathBuf> {
    let identity = site.known_talos_admin()?.clone();
    let address = |name: &str| Some(site.address(name)?.to_string());
    let endpoints: Vec<_> = site.control_planes().filter_map(|it| address(&it.name)).collect();
    let nodes = site.plan.nodes.iter().filter_map(|it| address(&it.name)).collect();
    let config =
        Talosconfig::new(site.plan.cluster.to_string(), Context { endpoints, nodes, identity });
    write(site, "talosconfig", &config.to_yaml())
}

/// Without the file the command is of no use, and is not printed.
fn write(site: &Site, name: &str, text: &Secret) -> Option<PathBuf> {
    let path = site.folder.join(name);
    private::write(&path, text.reveal().as_bytes()).ok()?;
    Some(path)
}
