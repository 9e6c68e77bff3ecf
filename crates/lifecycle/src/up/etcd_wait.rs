//! Whether a machine waits for a bootstrap, told by what else it may boot for.

use engine::ActError;
use events::Failure;
use spec::plan::NodePlan;
use talos::client::{ClientError, Health, Service, Stage};

use super::etcd_sight::unheard;
use crate::Site;

/// What every control plane boots for, beside etcd.
const NEEDED: &[&str] = &["cri", "kubelet", "trustd"];

/// Returns whether a machine boots because its etcd was never told to begin.
///
/// It boots until all its services were up, and etcd counts as up once it is
/// told to begin. So a machine that runs was told; one that boots while other
/// services are not up yet proves nothing, and is looked at again later.
pub(super) async fn waits_for_etcd(site: &Site, node: &NodePlan) -> Result<bool, ActError> {
    let Some(at) = site.talos(node) else { return Ok(false) };
    let looked = async {
        let client = at.authenticated(site.talos_admin()).await?;
        // In this order: who boots after its services were seen up waits for etcd.
        let services = client.service_list().await?;
        Ok::<_, ClientError>((services, client.machine_status().await?.stage))
    };
    let (services, stage) = looked.await.map_err(|error| unheard(site, node, &error))?;
    match stage {
        Stage::Running => return Ok(false),
        Stage::Booting => {}
        _ => {
            let what = format!("{} does not boot yet: it installs itself or restarts", node.name);
            return Err(Failure::transient(what).into());
        }
    }
    match not_up(&services) {
        None => Ok(true),
        Some(name) => {
            let what = format!("{} still boots: {name} is not up yet", node.name);
            Err(Failure::transient(what).into())
        }
    }
}

/// Returns a service other than etcd that a machine may still boot for: those
/// that every control plane has are well, and Talos waits for all others that it
/// has loaded, such as those of extensions.
fn not_up(services: &[Service]) -> Option<&str> {
    let is_well = |name: &&str| {
        services.iter().any(|it| it.id == **name && it.is_well() && it.health == Health::Healthy)
    };
    if let Some(name) = NEEDED.iter().find(|name| !is_well(name)) {
        return Some(name);
    }
    let is_up = |it: &Service| it.is_well() || matches!(it.state.as_str(), "Finished" | "Skipped");
    services.iter().find(|it| it.id != "etcd" && !is_up(it)).map(|it| it.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(id: &str, state: &str, health: Health) -> Service {
        let (id, state) = (id.to_owned(), state.to_owned());
        Service { id, state, health, last_event: String::new() }
    }

    #[test]
    fn a_machine_waits_for_etcd_alone_once_all_others_are_up() {
        let well = |id: &&str| service(id, "Running", Health::Healthy);
        let mut services: Vec<_> = NEEDED.iter().map(well).collect();
        services.push(service("etcd", "Preparing", Health::Unknown));
        services.push(service("machined", "Running", Health::Unknown));
        assert_eq!(not_up(&services), None);
        let sick = || Health::Unhealthy("connection refused".to_owned());
        for (state, health, is_up) in [
            ("Running", Health::Unknown, true),
            ("Running", Health::Healthy, true),
            ("Finished", Health::Unknown, true),
            ("Skipped", Health::Unknown, true),
            ("Running", sick(), false),
            ("Waiting", Health::Unknown, false),
            ("Preparing", Health::Unknown, false),
            ("Failed", Health::Unknown, false),
        ] {
            let mut services = services.clone();
            services.push(service("ext-iscsid", state, health));
            let expected = (!is_up).then_some("ext-iscsid");
            assert_eq!(not_up(&services), expected, "{state}");
        }
        services.retain(|it| it.id != "trustd");
        assert_eq!(not_up(&services), Some("trustd"), "it is not loaded yet");
        services.push(service("trustd", "Running", Health::Unknown));
        assert_eq!(not_up(&services), Some("trustd"), "nobody has looked yet");
    }
}
