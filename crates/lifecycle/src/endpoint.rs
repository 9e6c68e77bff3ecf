//! Where the Kubernetes API is reached from outside: one rule for all who say it,
//! which are machine configs, `up` and kubeconfigs.

use events::Role;
use spec::CloudKind;
use spec::plan::{Endpoint, NodePlan, Plan};

use crate::Site;
use crate::hetzner::API_PORT;

/// Who has the name or the address of the endpoint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Holder<'a> {
    /// Nobody has to be asked: the plan knows it before anything is made.
    Plan(String),
    /// The load balancer of this name gets a public address when it is made.
    Balancer(&'a str),
    /// The first control plane gets its address when its server is made.
    Server(&'a NodePlan),
}

impl<'a> Holder<'a> {
    /// Returns who has it; none for a plan without control planes.
    pub(crate) fn of(plan: &'a Plan) -> Option<Self> {
        Some(match &plan.endpoint {
            Endpoint::Hostname(name) => Self::Plan(name.clone()),
            Endpoint::LoadBalancer(name) => Self::Balancer(name),
            Endpoint::PrivateLoadBalancer(address) | Endpoint::Vip(address) => {
                Self::Plan(address.to_string())
            }
            Endpoint::Node(_) => {
                let first = plan.nodes.iter().find(|node| node.role == Role::ControlPlane)?;
                // Where nobody asks a cloud, the cluster is for one all the same:
                // the plan says it, the ground of a site does not.
                match plan.cloud {
                    CloudKind::Hetzner => Self::Server(first),
                    // A machine has its address, and workers do not wait until it
                    // answers there.
                    CloudKind::Proxmox | CloudKind::Machines => {
                        Self::Plan(first.address.to_string())
                    }
                }
            }
        })
    }
}

/// Returns the endpoint, once all is learned that it takes.
pub(crate) fn learned(site: &Site) -> Option<String> {
    let host = match Holder::of(&site.plan)? {
        Holder::Plan(host) => host,
        Holder::Balancer(_) => site.endpoint()?.to_string(),
        Holder::Server(node) => site.address(&node.name)?.to_string(),
    };
    Some(url(&host))
}

/// Returns the URL of the API at a host.
pub(crate) fn url(host: &str) -> String {
    format!("https://{host}:{API_PORT}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cloud: &str, control_plane: &str, addons: &str) -> Plan {
        let file = format!(
            "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud: {{ {cloud} }}
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{ {control_plane} }}
  addons: {{ {addons} }}
"
        );
        let reading = spec::read("cluster.yaml", file.as_bytes());
        let told = reading.render(spec::Colour::Plain);
        let cluster = reading.into_cluster().unwrap_or_else(|_| panic!("{told}"));
        Plan::of(&cluster, events::ClusterId::NIL)
    }

    fn at_hetzner(more: &str) -> Plan {
        let control_plane = format!("count: 1, type: cax11{more}");
        let file = "hetzner: { location: fsn1, network: 10.0.0.0/16 }";
        plan(file, &control_plane, "cilium: {}, hcloud-ccm: {}")
    }

    fn on_machines(control_plane: &str) -> Plan {
        let node = "{ name: one, address: 192.168.10.11, pool: control-plane, \
                    install: { disk: /dev/sda } }";
        let cloud = format!("machines: {{ network: 192.168.10.0/24, nodes: [{node}] }}");
        plan(&cloud, control_plane, "cilium: {}")
    }

    #[test]
    fn a_name_comes_first_then_the_load_balancer_then_the_first_control_plane() {
        let named = |more: &str| at_hetzner(&format!(", hostname: api.example.com{more}"));
        let none = ", loadBalancer: { enabled: false }";
        for plan in [named(""), named(none)] {
            assert_eq!(Holder::of(&plan), Some(Holder::Plan("api.example.com".to_owned())));
        }
        assert_eq!(Holder::of(&at_hetzner("")), Some(Holder::Balancer("demo-api")));
        let private = at_hetzner(", loadBalancer: { public: false }");
        let address = private.load_balancer.as_ref().map(|it| it.address.to_string());
        assert_eq!(Holder::of(&private), address.map(Holder::Plan));
        let alone = at_hetzner(none);
        assert_eq!(Holder::of(&alone), Some(Holder::Server(&alone.nodes[0])));
    }

    #[test]
    fn what_machines_are_reached_by_is_in_the_file() {
        for (control_plane, host) in [
            ("hostname: api.example.com, vip: 192.168.10.10", "api.example.com"),
            ("vip: 192.168.10.10", "192.168.10.10"),
            ("", "192.168.10.11"),
        ] {
            let plan = on_machines(control_plane);
            assert_eq!(Holder::of(&plan), Some(Holder::Plan(host.to_owned())));
        }
    }
}
