//! The types of resources, and how they are called and shown.

use std::sync::LazyLock;

use prost::Message;
use serde_json::json;
use talos_proto::cosi::resource::meta::{
    ResourceDefinitionSpec,
    resource_definition_spec::{PrintColumn, Sensitivity},
};

use super::Described;

/// One type of resource.
#[derive(Clone, Copy, Debug)]
pub(in crate::talos) struct Definition {
    pub(in crate::talos) name: &'static str,
    pub(in crate::talos) display: &'static str,
    pub(in crate::talos) namespace: &'static str,
    pub(in crate::talos) owner: &'static str,
    /// Short names that people use.
    aliases: &'static [&'static str],
    /// Columns of a table, with the paths of their values.
    columns: &'static [(&'static str, &'static str)],
    pub(in crate::talos) sensitive: bool,
}

const RESOURCE_DEFINITION: &str = "ResourceDefinitions.meta.cosi.dev";

/// A type that everybody may read.
const fn open(
    name: &'static str,
    display: &'static str,
    namespace: &'static str,
    owner: &'static str,
    aliases: &'static [&'static str],
    columns: &'static [(&'static str, &'static str)],
) -> Definition {
    Definition { name, display, namespace, owner, aliases, columns, sensitive: false }
}

/// A type that only administrators may read, without columns.
const fn sensitive(
    name: &'static str,
    display: &'static str,
    namespace: &'static str,
    owner: &'static str,
    aliases: &'static [&'static str],
) -> Definition {
    Definition { name, display, namespace, owner, aliases, columns: &[], sensitive: true }
}

#[rustfmt::skip]
const DEFINITIONS: &[Definition] = &[
    open(RESOURCE_DEFINITION, "ResourceDefinition", "meta", "",
        &["api-resources", "resourcedefinition", "resourcedefinitions", "rd", "rds"],
        &[("Aliases", "{.allAliases[:]}")]),
    open("MachineStatuses.runtime.talos.dev", "MachineStatus", "runtime", "runtime.MachineStatusController",
        &["machinestatus", "machinestatuses", "ms"], &[("Stage", "{.stage}"), ("Ready", "{.status.ready}")]),
    open("Diagnostics.runtime.talos.dev", "Diagnostic", "runtime", "runtime.DiagnosticsController",
        &["diagnostic", "diagnostics"], &[("Message", "{.message}")]),
    open("PlatformMetadatas.talos.dev", "PlatformMetadata", "runtime", "network.PlatformConfigController",
        &["platformmetadata", "platformmetadatas", "pm", "pms"],
        &[("Platform", "{.platform}"), ("Type", "{.instanceType}"), ("Region", "{.region}"), ("Zone", "{.zone}")]),
    sensitive("MachineConfigs.config.talos.dev", "MachineConfig", "config", "",
        &["machineconfig", "machineconfigs", "mc", "mcs"]),
    open("MachineTypes.config.talos.dev", "MachineType", "config", "config.MachineTypeController",
        &["machinetype", "machinetypes", "mt", "mts"], &[("Type", "{@}")]),
    open("LinkStatuses.net.talos.dev", "LinkStatus", "network", "network.LinkStatusController",
        &["link", "links", "linkstatus", "linkstatuses", "ls"],
        &[("Type", "{.type}"), ("Kind", "{.kind}"), ("Hw Addr", "{.hardwareAddr}"),
          ("Oper State", "{.operationalState}"), ("Link State", "{.linkState}")]),
    open("HardwareAddresses.net.talos.dev", "HardwareAddress", "network", "network.HardwareAddrController",
        &["hardwareaddress", "hardwareaddresses", "ha"], &[("Name", "{.name}"), ("HardwareAddr", "{.hardwareAddr}")]),
    open("Disks.block.talos.dev", "Disk", "runtime", "block.DisksController",
        &["disk", "disks"],
        &[("Size", "{.pretty_size}"), ("Read Only", "{.readonly}"), ("Transport", "{.transport}"),
          ("Rotational", "{.rotational}"), ("WWID", "{.wwid}"), ("Model", "{.model}"), ("Serial", "{.serial}")]),
    open("SystemDisks.block.talos.dev", "SystemDisk", "runtime", "block.SystemDiskController",
        &["systemdisk", "systemdisks", "sd", "sds"], &[("Disk", "{.diskID}")]),
    open("VolumeStatuses.block.talos.dev", "VolumeStatus", "runtime", "block.VolumeManagerController",
        &["volumestatus", "volumestatuses", "vs"],
        &[("Type", "{.type}"), ("Phase", "{.phase}"), ("Location", "{.location}"), ("Size", "{.prettySize}")]),
    open("Members.cluster.talos.dev", "Member", "cluster", "cluster.MemberController",
        &["member", "members"],
        &[("Hostname", "{.hostname}"), ("Machine Type", "{.machineType}"), ("OS", "{.operatingSystem}"),
          ("Addresses", "{.addresses}")]),
    open("StaticPodStatuses.kubernetes.talos.dev", "StaticPodStatus", "k8s", "k8s.KubeletStaticPodController",
        &["podstatus", "staticpodstatus", "staticpodstatuses", "sps"],
        &[("Ready", "{.conditions[?(@.type==\"Ready\")].status}")]),
    open("NodeStatuses.kubernetes.talos.dev", "NodeStatus", "k8s", "k8s.NodeStatusController",
        &["nodestatus", "nodestatuses", "ns"], &[("Ready", "{.nodeReady}"), ("Unschedulable", "{.unschedulable}")]),
    open("Nodenames.kubernetes.talos.dev", "Nodename", "k8s", "k8s.NodenameController",
        &["nodename", "nodenames"], &[("Nodename", "{.nodename}")]),
    sensitive("KubeletConfigs.kubernetes.talos.dev", "KubeletConfig", "k8s", "k8s.KubeletConfigController",
        &["kubeletconfig", "kubeletconfigs", "kc", "kcs"]),
    open("BootstrapManifestsConfigs.kubernetes.talos.dev", "BootstrapManifestsConfig", "controlplane",
        "k8s.ControlPlaneBootstrapManifestsController",
        &["bootstrapmanifestsconfig", "bootstrapmanifestsconfigs", "bmc", "bmcs"], &[]),
    sensitive("APIServerConfigs.kubernetes.talos.dev", "APIServerConfig", "controlplane",
        "k8s.ControlPlaneAPIServerController", &["apiserverconfig", "apiserverconfigs", "apisc", "apiscs"]),
    open("ControllerManagerConfigs.kubernetes.talos.dev", "ControllerManagerConfig", "controlplane",
        "k8s.ControlPlaneControllerManagerController",
        &["controllermanagerconfig", "controllermanagerconfigs", "cmc", "cmcs"], &[]),
    open("SchedulerConfigs.kubernetes.talos.dev", "SchedulerConfig", "controlplane",
        "k8s.ControlPlaneSchedulerController", &["schedulerconfig", "schedulerconfigs", "sc", "scs"], &[]),
    open("EtcdMembers.etcd.talos.dev", "EtcdMember", "etcd", "etcd.MemberController",
        &["etcdmember", "etcdmembers", "em", "ems"], &[("Member ID", "{.memberID}")]),
    open("Services.v1alpha1.talos.dev", "Service", "runtime", "v1alpha1.ServiceController",
        &["svc", "service", "services"],
        &[("Running", "{.running}"), ("Healthy", "{.healthy}"), ("Health Unknown", "{.unknown}")]),
];

/// Finds a type by its full name.
pub(in crate::talos) fn definition(name: &str) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|definition| definition.name == name)
}

/// Describes all the types themselves, which never change.
pub(super) fn describe_all() -> Vec<Described> {
    static ALL: LazyLock<Vec<Described>> = LazyLock::new(|| describe_types().collect());
    ALL.clone()
}

fn describe_types() -> impl Iterator<Item = Described> {
    let meta = definition(RESOURCE_DEFINITION).expect("the type of types is a type");
    DEFINITIONS.iter().map(move |definition| {
        let id = definition.name.to_lowercase();
        let columns: Vec<_> = definition
            .columns
            .iter()
            .map(|(name, path)| json!({ "name": name, "jsonPath": path }))
            .collect();
        let spec = json!({
            "type": definition.name,
            "displayType": definition.display,
            "defaultNamespace": definition.namespace,
            "aliases": definition.aliases,
            "allAliases": definition.aliases,
            "printColumns": columns,
            "sensitivity": if definition.sensitive { "sensitive" } else { "" },
        });
        Described::new(meta, &id, &spec).with_proto(definition.encode())
    })
}

impl Definition {
    fn encode(&self) -> Vec<u8> {
        let aliases: Vec<_> = self.aliases.iter().map(ToString::to_string).collect();
        let column = |(name, path): &(&str, &str)| PrintColumn {
            name: (*name).to_owned(),
            json_path: (*path).to_owned(),
        };
        let sensitivity =
            if self.sensitive { Sensitivity::Sensitive } else { Sensitivity::NonSensitive };
        let spec = ResourceDefinitionSpec {
            resource_type: self.name.to_owned(),
            display_type: self.display.to_owned(),
            default_namespace: self.namespace.to_owned(),
            aliases: aliases.clone(),
            all_aliases: aliases,
            print_columns: self.columns.iter().map(column).collect(),
            sensitivity: sensitivity.into(),
        };
        spec.encode_to_vec()
    }
}
