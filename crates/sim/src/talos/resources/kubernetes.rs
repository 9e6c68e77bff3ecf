//! Resources of what a node has to do with Kubernetes.

use prost::Message;
use prost_types::{ListValue, Struct, Value as ProtoValue, value::Kind};
use serde_json::{Value, json};
use talos_proto::specs::{
    BootstrapManifestsConfigSpec, KubeletConfigSpec, NodenameSpec, StaticPodStatusSpec,
};

use super::{Described, describe::Known, store::described};
use crate::talos::{MachineConfig, node::StaticPods};

const CONTROL_PLANE_PODS: [&str; 3] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// Returns the ids of a control plane's static pods.
pub(in crate::talos) fn static_pod_names(hostname: &str) -> impl Iterator<Item = String> {
    CONTROL_PLANE_PODS.iter().map(move |name| format!("kube-system/{name}-{hostname}"))
}

pub(super) fn nodename(known: &Known<'_>) -> Vec<Described> {
    if known.state.config.is_none() {
        return Vec::new();
    }
    let proto = NodenameSpec {
        nodename: known.hostname.to_owned(),
        hostname_version: "1".to_owned(),
        skip_node_registration: false,
    };
    let spec = json!({
        "nodename": proto.nodename,
        "hostnameVersion": proto.hostname_version,
        "skipNodeRegistration": proto.skip_node_registration,
    });
    let described = described("Nodenames.kubernetes.talos.dev", "nodename", &spec);
    vec![described.with_proto(proto.encode_to_vec())]
}

pub(super) fn node_status(known: &Known<'_>) -> Vec<Described> {
    let Some(node) = &known.state.kubernetes else { return Vec::new() };
    let spec = json!({
        "nodename": known.hostname,
        "nodeReady": node.ready,
        "unschedulable": node.unschedulable,
        "labels": {},
        "annotations": {},
    });
    vec![described("NodeStatuses.kubernetes.talos.dev", known.hostname, &spec)]
}

pub(super) fn static_pods(known: &Known<'_>) -> Vec<Described> {
    let ready = match known.state.static_pods {
        StaticPods::Absent => return Vec::new(),
        StaticPods::Starting => "False",
        StaticPods::Ready => "True",
    };
    let condition = |kind: &str, status: &str| json!({ "type": kind, "status": status });
    let spec = json!({
        "phase": "Running",
        "conditions": [
            condition("Initialized", "True"),
            condition("Ready", ready),
            condition("ContainersReady", ready),
            condition("PodScheduled", "True"),
        ],
    });
    let proto = StaticPodStatusSpec { pod_status: Some(structure(&spec)) }.encode_to_vec();
    let pod = |id: String| {
        let described = described("StaticPodStatuses.kubernetes.talos.dev", &id, &spec);
        described.with_proto(proto.clone())
    };
    static_pod_names(known.hostname).map(pod).collect()
}

pub(super) fn kubelet(known: &Known<'_>) -> Vec<Described> {
    let Some(config) = &known.state.config else { return Vec::new() };
    let proto = KubeletConfigSpec {
        image: config.kubelet.image.clone().unwrap_or_default(),
        cluster_domain: config.cluster.dns_domain.clone(),
        cloud_provider_external: config.cluster.external_cloud_provider,
    };
    let spec = json!({
        "image": proto.image,
        "clusterDomain": proto.cluster_domain,
        "cloudProviderExternal": proto.cloud_provider_external,
    });
    let described = described("KubeletConfigs.kubernetes.talos.dev", "kubelet", &spec);
    vec![described.with_proto(proto.encode_to_vec())]
}

/// What Talos itself applies to the cluster.
pub(super) fn manifests(known: &Known<'_>) -> Vec<Described> {
    let Some(config) = control_plane(known) else { return Vec::new() };
    let cluster = &config.cluster;
    let proto = BootstrapManifestsConfigSpec {
        server: cluster.endpoint.clone(),
        cluster_domain: cluster.dns_domain.clone(),
        pod_cid_rs: cluster.pod_subnets.clone(),
        proxy_enabled: cluster.kube_proxy,
        core_dns_enabled: cluster.core_dns,
        flannel_enabled: cluster.cni == "flannel",
        cni_name: cluster.cni.clone(),
    };
    let spec = json!({
        // Talos calls it so.
        "string": proto.server,
        "clusterDomain": proto.cluster_domain,
        "podCIDRs": proto.pod_cid_rs,
        "proxyEnabled": proto.proxy_enabled,
        "coreDNSEnabled": proto.core_dns_enabled,
        "flannelEnabled": proto.flannel_enabled,
        "cniName": proto.cni_name,
    });
    let described = described("BootstrapManifestsConfigs.kubernetes.talos.dev", "manifests", &spec);
    vec![described.with_proto(proto.encode_to_vec())]
}

/// The settings of a static pod; nobody reads more of them than that they are
/// there.
pub(super) fn component(known: &Known<'_>, kind: &str, id: &str) -> Vec<Described> {
    let Some(config) = control_plane(known) else { return Vec::new() };
    let image = config.kubelet.image.as_deref().and_then(|image| image.rsplit_once(':'));
    let version = image.map_or("v1.36.3", |(_, version)| version);
    let spec = json!({ "enabled": true, "image": format!("registry.k8s.io/{id}:{version}") });
    vec![described(&format!("{kind}.kubernetes.talos.dev"), id, &spec)]
}

fn control_plane<'a>(known: &Known<'a>) -> Option<&'a MachineConfig> {
    known.state.config.as_deref().filter(|config| config.is_control_plane())
}

/// Writes a value as the protocol has it.
fn structure(value: &Value) -> Struct {
    let entries = value.as_object().into_iter().flatten();
    Struct { fields: entries.map(|(key, value)| (key.clone(), proto_value(value))).collect() }
}

fn proto_value(value: &Value) -> ProtoValue {
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(it) => Kind::BoolValue(*it),
        Value::Number(it) => Kind::NumberValue(it.as_f64().unwrap_or_default()),
        Value::String(it) => Kind::StringValue(it.clone()),
        Value::Array(items) => {
            Kind::ListValue(ListValue { values: items.iter().map(proto_value).collect() })
        }
        Value::Object(_) => Kind::StructValue(structure(value)),
    };
    ProtoValue { kind: Some(kind) }
}
