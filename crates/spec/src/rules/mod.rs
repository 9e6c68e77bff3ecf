//! The rules of a cluster file, beyond what a key or a value alone can say.
//!
//! Each rule prevents a failure that was seen on a real cluster. A rule that
//! needs to ask the cloud is not here: it belongs to the preflight stage.

mod addons;
mod addresses;
mod clouds;
mod counts;
mod deadlines;
mod doors;
mod hardware;
mod names;
mod networks;
mod registries;
mod rule;
mod talos;
mod versions;

use crate::cluster::Cluster;
use crate::read::Problems;

pub use rule::Rule;

/// Checks all rules.
pub(crate) fn check(cluster: &Cluster, problems: &Problems) {
    names::check(cluster, problems);
    counts::check(cluster, problems);
    versions::check(cluster, problems);
    addons::check(cluster, problems);
    talos::check(cluster, problems);
    registries::check(cluster, problems);
    doors::check(cluster, problems);
    deadlines::check(cluster, problems);
    // Without a cloud nothing can be said about hardware and addresses.
    if !cluster.cloud.at().is_nowhere() {
        clouds::check(cluster, problems);
        networks::check(cluster, problems);
        addresses::check(cluster, problems);
    }
}
