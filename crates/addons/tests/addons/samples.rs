//! Values as a cluster of three control planes would have them.

use addons::probe::{Datapath, Storage};
use addons::{Rendered, cilium, flux, hcloud_ccm, hcloud_csi, metrics_server, sealed_secrets};
use events::{RunId, Secret};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) const CANARY: &str = "canary-hunter22";

pub(crate) fn run() -> RunId {
    RunId::new(Timestamp::from_second(1_790_000_000).unwrap(), 7)
}

pub(crate) fn cilium(routing: cilium::Routing, encryption: cilium::Encryption) -> Rendered {
    cilium::render(&cilium::Values {
        version: "1.20.0".into(),
        namespace: "kube-system".into(),
        routing,
        encryption,
        api: "127.0.0.1:7445".parse().unwrap(),
        control_planes: 3,
    })
}

pub(crate) fn hcloud_ccm() -> Rendered {
    let values = hcloud_ccm::Values {
        version: "1.35.0".into(),
        namespace: "kube-system".into(),
        routes_for: Some("10.0.128.0/17".parse().unwrap()),
        location: "fsn1".into(),
        load_balancer_type: "lb11".into(),
        api: "127.0.0.1:7445".parse().unwrap(),
        control_planes: 3,
    };
    let token = hcloud_ccm::token("kube-system", &Secret::new(CANARY), "demo");
    hcloud_ccm::render(&values).with_secret(token)
}

pub(crate) fn hcloud_csi() -> Rendered {
    hcloud_csi::render(&hcloud_csi::Values {
        version: "2.22.1".into(),
        namespace: "kube-system".into(),
        location: "fsn1".into(),
        control_planes: 3,
        volume_labels: [("seaworthy.dev/cluster".into(), "demo".into())].into(),
    })
}

pub(crate) fn sealed_secrets() -> Rendered {
    sealed_secrets::render(&sealed_secrets::Values {
        controller: "0.36.1".into(),
        namespace: "kube-system".into(),
    })
}

pub(crate) fn metrics_server() -> Rendered {
    metrics_server::render(&metrics_server::Values {
        server: "0.8.1".into(),
        namespace: "kube-system".into(),
        kubelets: metrics_server::KubeletCertificates::SelfSigned,
    })
}

pub(crate) fn flux() -> Rendered {
    let values = flux::Values {
        version: "2.9.4".into(),
        namespace: "flux-system".into(),
        repository: "ssh://git@example.com/fleet".into(),
        branch: "main".into(),
        path: "clusters/demo".into(),
        interval: "1m0s".into(),
        is_private: true,
    };
    let access = flux::Access::Ssh {
        identity: Secret::new(CANARY),
        known_hosts: "example.com ssh-ed25519 AAAA".into(),
    };
    flux::render(&values).with_secret(flux::access("flux-system", &access))
}

/// Every addon once, in the order of delivery; metrics-server last, because an
/// API without a server makes discovery complain.
pub(crate) fn all() -> Vec<Rendered> {
    let native = cilium::Routing::Native { cidr: "10.0.0.0/16".parse().unwrap() };
    let keys = cilium::Encryption::Ipsec { keys: Secret::new(CANARY) };
    vec![
        cilium(native, keys),
        hcloud_ccm(),
        hcloud_csi(),
        sealed_secrets(),
        flux(),
        metrics_server(),
    ]
}

pub(crate) fn probes() -> Vec<Value> {
    let storage = Storage {
        run: run(),
        storage_class: "hcloud-volumes".into(),
        size: "10Gi".into(),
        image: "docker.io/library/busybox:1.37".into(),
    };
    let datapath = Datapath {
        run: run(),
        nodes: vec!["demo-cp-1".into(), "demo-worker-1".into()],
        image: "registry.k8s.io/e2e-test-images/agnhost:2.57".into(),
    };
    storage.objects().into_iter().chain(datapath.objects()).collect()
}
