//! The machine config of a node, from the plan.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use events::Role;
use ipnet::{IpNet, Ipv4Net};
use spec::plan::{AssignedLater, DiskTraits, Hardware, NodePlan, Plan, San};
use spec::{AddonName, CloudKind, DiskKey, PatchTarget, Taint};
use talos::config::patch::{Patch, PatchError};
use talos::config::{
    Addressing, CloudProvider, Cluster, Cni, Contract, ControlPlanes, DiskSelector, Encryption,
    HostDns, InputError, Install, InstallDisk, Interface, KubeProxy, KubeletCertificates, Link,
    MachineConfig, Mirror, Node, UnsupportedVersion,
};

use crate::{Site, endpoint};

/// The disk of virtual machines that boot from our image.
const DISK: &str = "/dev/sda";

/// A change to the machine configs of some nodes.
#[derive(Clone, Debug)]
pub struct MachinePatch {
    /// Which nodes get it.
    pub on: PatchTarget,
    /// The change.
    pub patch: Patch,
}

impl MachinePatch {
    /// Reads a patch in any of the forms that talosctl takes. `name` is what
    /// errors call it.
    pub fn read(on: PatchTarget, name: &str, text: &str) -> Result<Self, PatchError> {
        Ok(Self { on, patch: Patch::read(name, text)? })
    }
}

/// Why there is no machine config.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The endpoint's address is not known yet.
    #[error("the address of the API is not known yet")]
    NoEndpoint,
    /// The Talos version is not supported.
    #[error(transparent)]
    Version(#[from] UnsupportedVersion),
    /// The inputs do not make a config.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A patch does not fit.
    #[error(transparent)]
    Patch(#[from] PatchError),
}

/// Writes the config of a node: the same plan and addresses give the same bytes.
pub(crate) fn render(site: &Site, node: &NodePlan) -> Result<MachineConfig, ConfigError> {
    let endpoint = endpoint::learned(site).ok_or(ConfigError::NoEndpoint)?;
    let cluster = Cluster {
        inline_manifests: site.inline_manifests.clone(),
        registries: site.registries.clone(),
        ..cluster(&site.plan, endpoint, sans(site, node))?
    };
    let config = MachineConfig::render(site.bundle(), &cluster, &host(&site.plan, node))?;
    let meant = |patch: &&MachinePatch| patch.on.fits(node.pool.as_ref());
    let patches: Vec<_> =
        site.patches.iter().filter(meant).map(|patch| patch.patch.clone()).collect();
    Ok(config.patched(&patches)?)
}

fn cluster(
    plan: &Plan,
    endpoint: String,
    cert_sans: Vec<String>,
) -> Result<Cluster, UnsupportedVersion> {
    let system = &plan.system;
    let workers = plan.nodes.iter().any(|node| node.role == Role::Worker);
    let mirror = |(registry, mirror): (&String, &spec::plan::MirrorPlan)| {
        let (endpoints, skip_fallback) = (mirror.endpoints.clone(), mirror.skip_fallback);
        (registry.clone(), Mirror { endpoints, skip_fallback })
    };
    Ok(Cluster {
        name: plan.cluster.to_string(),
        contract: Contract::of(&plan.talos.to_string())?,
        kubernetes: plan.kubernetes.to_string(),
        endpoint,
        cert_sans,
        pod_subnets: vec![IpNet::V4(plan.network.pods.net())],
        service_subnets: vec![IpNet::V4(plan.network.services.net())],
        dns_domain: system.domain.clone().unwrap_or_else(|| "cluster.local".to_owned()),
        // Pods get their network from an addon or from manifests, never from Talos.
        cni: Cni::None,
        kube_proxy: if plan.addons.iter().any(|addon| addon.name == AddonName::Cilium) {
            KubeProxy::Disabled
        } else {
            KubeProxy::Enabled
        },
        cloud_provider: match plan.cloud {
            CloudKind::Hetzner => CloudProvider::External,
            CloudKind::Proxmox | CloudKind::Machines => CloudProvider::None,
        },
        // Cilium's eBPF masquerading loses what CoreDNS would ask the node.
        host_dns: if system.forward_kube_dns_to_host {
            HostDns::ForwardPods
        } else {
            HostDns::NodeOnly
        },
        control_planes: if system.schedulable_control_planes.unwrap_or(!workers) {
            ControlPlanes::RunWorkloads
        } else {
            ControlPlanes::Reserved
        },
        node_subnets: vec![IpNet::V4(plan.network.nodes.net())],
        mirrors: system.mirrors.iter().map(mirror).collect(),
        // What lets nodes in is a secret: the site has it.
        registries: BTreeMap::new(),
        kubelet_certificates: if system.rotate_server_certificates {
            KubeletCertificates::Requested
        } else {
            KubeletCertificates::SelfSigned
        },
        // Ours are applied by stages that look whether they are healthy; the
        // site adds those that the file leaves to Talos.
        inline_manifests: Vec::new(),
        extra_manifests: system.extra_manifests.clone(),
    })
}

/// Every name and address by which this node or the API is reached. The other
/// nodes' are in their own configs: no node waits for another's address.
fn sans(site: &Site, node: &NodePlan) -> Vec<String> {
    let name = |san: &San| match san {
        San::Name(name) => Some(name.clone()),
        San::Address(address) => Some(address.to_string()),
        San::Later(AssignedLater::LoadBalancer) => site.endpoint().map(|it| it.to_string()),
        San::Later(AssignedLater::Server(_)) => None,
    };
    let own = site.address(&node.name).map(|address| address.to_string());
    let mut sans: Vec<_> = site.plan.sans.iter().filter_map(name).chain(own).collect();
    let mut seen = std::collections::BTreeSet::new();
    sans.retain(|san| seen.insert(san.clone()));
    sans
}

fn host(plan: &Plan, node: &NodePlan) -> Node {
    let system = &plan.system;
    Node {
        role: node.role,
        hostname: node.name.clone(),
        install: Install {
            disk: install_disk(node),
            image: match &node.installer {
                Some(image) => image.to_string(),
                None => format!("ghcr.io/siderolabs/installer:{}", plan.talos),
            },
        },
        labels: node.labels.clone(),
        taints: node.taints.iter().map(taint).collect(),
        interfaces: interface(plan, node).into_iter().collect(),
        nameservers: system.nameservers.iter().map(|it| IpAddr::V4(*it)).collect(),
        encryption: Encryption {
            state: system.state_key.and_then(disk_key),
            ephemeral: system.ephemeral_key.and_then(disk_key),
        },
    }
}

fn install_disk(node: &NodePlan) -> InstallDisk {
    use spec::plan::InstallDisk as Asked;
    match &node.hardware {
        Hardware::Machine { install: Some(Asked::Disk(disk)), .. } => {
            InstallDisk::Device(disk.as_str().to_owned())
        }
        Hardware::Machine { install: Some(Asked::DiskSelector(traits)), .. } => {
            InstallDisk::Selector(selector(traits))
        }
        _ => InstallDisk::Device(DISK.to_owned()),
    }
}

fn selector(traits: &DiskTraits) -> DiskSelector {
    use spec::DiskType;
    let text = |text: &Option<spec::Text>| text.as_ref().map(|text| text.as_str().to_owned());
    let kind = |kind| match kind {
        DiskType::Ssd => "ssd",
        DiskType::Nvme => "nvme",
        DiskType::Hdd => "hdd",
        DiskType::Sd => "sd",
    };
    DiskSelector {
        min_size: traits.min_size.map(spec::Bytes::get),
        max_size: traits.max_size.map(spec::Bytes::get),
        disk_type: traits.disk_type.map(|it| kind(it).to_owned()),
        model: text(&traits.model),
        serial: text(&traits.serial),
        wwid: text(&traits.wwid),
    }
}

/// The card of a machine whose addresses are not left to DHCP, or of a control
/// plane that may take the shared address.
fn interface(plan: &Plan, node: &NodePlan) -> Option<Interface> {
    let mac = match &node.hardware {
        Hardware::Machine { mac, .. } | Hardware::Vm { mac, .. } => *mac,
        // A cloud tells its servers their addresses.
        Hardware::Server { .. } => return None,
    };
    let vip = plan.system.vip.filter(|_| node.role == Role::ControlPlane);
    let addressing = match plan.network.gateway {
        Some(gateway) => fixed(plan, node, gateway),
        None if vip.is_some() => Addressing::Dhcp,
        None => return None,
    };
    let link = mac.map_or(Link::Physical, |mac| Link::Hardware(mac.to_string()));
    Some(Interface { link, addressing, vip: vip.map(Into::into) })
}

/// Whether nothing says which card gets the addresses of a node: neither the
/// cluster file nor a patch.
pub(crate) fn names_no_card(site: &Site, node: &NodePlan) -> bool {
    let is_open = |interface: Interface| interface.link == Link::Physical;
    interface(&site.plan, node).is_some_and(is_open)
        // What does not become a config is told by the stage that sends it.
        && render(site, node).is_ok_and(|it| it.is_for_a_single_card() == Ok(true))
}

fn fixed(plan: &Plan, node: &NodePlan, gateway: Ipv4Addr) -> Addressing {
    let size = plan.network.network.net().prefix_len();
    let address = Ipv4Net::new(node.address, size).expect("a network has the size of a network");
    Addressing::Fixed { addresses: vec![address.into()], gateway: Some(gateway.into()) }
}

fn taint(taint: &Taint) -> (String, String) {
    let effect = format!("{:?}", taint.effect);
    let value = match taint.value.as_str() {
        "" => effect,
        value => format!("{value}:{effect}"),
    };
    (taint.key.as_str().to_owned(), value)
}

fn disk_key(key: DiskKey) -> Option<talos::config::DiskKey> {
    match key {
        DiskKey::None => None,
        DiskKey::NodeId => Some(talos::config::DiskKey::NodeId),
        DiskKey::Tpm => Some(talos::config::DiskKey::Tpm),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    const FILE: &str = "\
apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: demo }
spec:
  cloud:
    machines:
      network: 192.168.10.0/24
      gateway: 192.168.10.1
      nameservers: [9.9.9.9]
      nodes:
        - { name: one, address: 192.168.10.11, pool: control-plane, mac: '02:00:00:00:00:01' }
        - name: two
          address: 192.168.10.12
          pool: storage
          install: { diskSelector: { type: nvme, minSize: 100Gi } }
  talos:
    version: v1.14.1
    install: { disk: /dev/vda }
    diskEncryption: { state: nodeid, ephemeral: tpm }
    registries: { docker.io: { endpoints: ['http://10.0.0.5:5000'], skipFallback: true } }
    forwardKubeDNSToHost: true
  kubernetes:
    version: v1.36.3
    domain: example.internal
    rotateServerCertificates: true
  controlPlane: { vip: 192.168.10.10, schedulable: true }
  pools:
    - name: storage
      labels: { disk: fast }
      taints: ['dedicated=db:NoSchedule', 'alone:NoExecute']
  manifests: [{ name: network, path: net/, after: api }]
";

    fn plan() -> Plan {
        planned(FILE)
    }

    fn planned(file: &str) -> Plan {
        let reading = spec::read("cluster.yaml", file.as_bytes());
        let told = reading.render(spec::Colour::Plain);
        let cluster = reading.into_cluster().unwrap_or_else(|_| panic!("{told}"));
        Plan::of(&cluster, events::ClusterId::NIL)
    }

    #[test]
    fn what_the_file_says_of_all_nodes_is_in_their_configs() {
        let cluster = cluster(&plan(), "https://192.168.10.10:6443".to_owned(), vec![]).unwrap();
        assert_eq!(cluster.dns_domain, "example.internal");
        assert_eq!(cluster.host_dns, HostDns::ForwardPods);
        assert_eq!(cluster.control_planes, ControlPlanes::RunWorkloads);
        assert_eq!(cluster.kubelet_certificates, KubeletCertificates::Requested);
        assert_eq!(cluster.cloud_provider, CloudProvider::None);
        let mirror = &cluster.mirrors["docker.io"];
        assert_eq!(mirror.endpoints, ["http://10.0.0.5:5000"]);
        assert!(mirror.skip_fallback);
    }

    #[test]
    fn what_the_file_says_of_a_node_is_in_its_config() {
        let plan = plan();
        let [one, two] = [0, 1].map(|place| host(&plan, &plan.nodes[place]));
        assert_eq!(one.install.disk, InstallDisk::Device("/dev/vda".to_owned()));
        let link = Link::Hardware("02:00:00:00:00:01".to_owned());
        let addressing = Addressing::Fixed {
            addresses: vec!["192.168.10.11/24".parse().unwrap()],
            gateway: Some([192, 168, 10, 1].into()),
        };
        let vip = Some([192, 168, 10, 10].into());
        assert_eq!(one.interfaces, [Interface { link, addressing, vip }]);
        assert_eq!(one.nameservers, [IpAddr::from([9, 9, 9, 9])]);
        let key = talos::config::DiskKey::NodeId;
        assert_eq!(one.encryption.state, Some(key));
        assert_eq!(two.encryption.ephemeral, Some(talos::config::DiskKey::Tpm));
        let InstallDisk::Selector(selector) = &two.install.disk else { panic!("no selector") };
        assert_eq!(selector.min_size, Some(100 << 30));
        assert_eq!(selector.disk_type.as_deref(), Some("nvme"));
        let [Interface { link: Link::Physical, vip: None, .. }] = two.interfaces.as_slice() else {
            panic!("{:?}", two.interfaces)
        };
        assert_eq!(two.labels["disk"], "fast");
        assert_eq!(two.taints["dedicated"], "db:NoSchedule");
        assert_eq!(two.taints["alone"], "NoExecute");
    }

    #[test]
    fn the_example_of_machines_names_their_cards_as_talos_does() {
        let plan = planned(include_str!("../../../examples/machines.yaml"));
        let key = talos::pki::PrivateKey::p256().unwrap();
        let mut rng = StdRng::seed_from_u64(1);
        let bundle = talos::secrets::Bundle::generate(key, Timestamp::UNIX_EPOCH, &mut rng);
        let cluster = cluster(&plan, "https://192.168.10.11:6443".to_owned(), vec![]).unwrap();
        let node = host(&plan, &plan.nodes[0]);
        let config = MachineConfig::render(&bundle.unwrap(), &cluster, &node).unwrap();
        let yaml = config.yaml().reveal();
        assert!(yaml.contains("hardwareAddr: bc:24:11:2e:c5:01\n"), "another card is named");
    }

    #[test]
    fn without_a_gateway_addresses_are_left_to_dhcp() {
        let mut plan = plan();
        plan.network.gateway = None;
        let [one, two] = [0, 1].map(|place| host(&plan, &plan.nodes[place]).interfaces);
        assert_eq!(one[0].addressing, Addressing::Dhcp);
        assert_eq!(two, []);
    }

    #[test]
    fn patches_go_to_the_nodes_that_are_meant() {
        let plan = plan();
        let [plane, worker] = [0, 1].map(|place| plan.nodes[place].pool.as_ref());
        let storage = PatchTarget::Pool(worker.unwrap().clone());
        for (target, on_plane, on_worker) in [
            (PatchTarget::All, true, true),
            (PatchTarget::ControlPlane, true, false),
            (PatchTarget::AllWorkers, false, true),
            (storage, false, true),
        ] {
            assert_eq!((target.fits(plane), target.fits(worker)), (on_plane, on_worker));
        }
    }
}
