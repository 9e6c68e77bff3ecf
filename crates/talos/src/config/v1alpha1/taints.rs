//! The taints of a node, said to whoever is allowed to set them.

use events::Role;
use serde::Serialize;

use crate::config::{Cluster, Contract, Node};

/// Who sets the taints of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaintedBy {
    /// Talos does, by `machine.nodeTaints`.
    Talos,
    /// The kubelet does when it registers the node.
    Kubelet,
}

/// The part of a kubelet's own configuration that taints its node.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KubeletTaints<'a> {
    register_with_taints: Vec<TaintPart<'a>>,
}

#[derive(Serialize)]
struct TaintPart<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    value: &'a str,
    effect: &'a str,
}

impl TaintedBy {
    /// Before 1.14 Talos changes the Node once it is there, on workers as the
    /// kubelet. The API server lets no kubelet change taints (`NodeRestriction`),
    /// and refuses the labels of the same call with them. A kubelet may register
    /// with taints, which since 1.14 Talos has it do by itself.
    pub(super) fn of(cluster: &Cluster, node: &Node) -> Self {
        match node.role {
            Role::Worker if cluster.contract < Contract::TaintsAtRegistration => Self::Kubelet,
            Role::Worker | Role::ControlPlane => Self::Talos,
        }
    }
}

impl<'a> KubeletTaints<'a> {
    pub(super) fn of(node: &'a Node) -> Option<Self> {
        let taints = node.taints.iter().map(|(key, taint)| TaintPart::of(key, taint));
        let register_with_taints: Vec<_> = taints.collect();
        (!register_with_taints.is_empty()).then_some(Self { register_with_taints })
    }
}

impl<'a> TaintPart<'a> {
    fn of(key: &'a str, taint: &'a str) -> Self {
        let (value, effect) = taint.split_once(':').unwrap_or(("", taint));
        Self { key, value, effect }
    }
}
