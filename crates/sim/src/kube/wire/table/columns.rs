//! The columns of built-in kinds.

use super::Column;

const S: &str = "string";
const I: &str = "integer";
const B: &str = "boolean";
const NAME: Column = ("Name", S, 0);
const AGE: Column = ("Age", S, 0);
const CONTAINERS: Column = ("Containers", S, 1);
const IMAGES: Column = ("Images", S, 1);
const SELECTOR: Column = ("Selector", S, 1);

/// Returns the columns of a kind; name and age where it has none of its own.
#[rustfmt::skip]
pub(super) fn of(kind: &str) -> &'static [Column] {
    match kind {
        "Pod" => &[NAME, ("Ready", S, 0), ("Status", S, 0), ("Restarts", S, 0), AGE, ("IP", S, 1), ("Node", S, 1), ("Nominated Node", S, 1), ("Readiness Gates", S, 1)],
        "Node" => &[NAME, ("Status", S, 0), ("Roles", S, 0), AGE, ("Version", S, 0), ("Internal-IP", S, 1), ("External-IP", S, 1), ("OS-Image", S, 1), ("Kernel-Version", S, 1), ("Container-Runtime", S, 1)],
        "Deployment" => &[NAME, ("Ready", S, 0), ("Up-to-date", S, 0), ("Available", S, 0), AGE, CONTAINERS, IMAGES, SELECTOR],
        "ReplicaSet" => &[NAME, ("Desired", I, 0), ("Current", I, 0), ("Ready", I, 0), AGE, CONTAINERS, IMAGES, SELECTOR],
        "DaemonSet" => &[NAME, ("Desired", I, 0), ("Current", I, 0), ("Ready", I, 0), ("Up-to-date", I, 0), ("Available", I, 0), ("Node Selector", S, 0), AGE, CONTAINERS, IMAGES, SELECTOR],
        "StatefulSet" => &[NAME, ("Ready", S, 0), AGE, CONTAINERS, IMAGES],
        "Job" => &[NAME, ("Status", S, 0), ("Completions", S, 0), ("Duration", S, 0), AGE, CONTAINERS, IMAGES, SELECTOR],
        "Service" => &[NAME, ("Type", S, 0), ("Cluster-IP", S, 0), ("External-IP", S, 0), ("Port(s)", S, 0), AGE, SELECTOR],
        "Event" => &[("Last Seen", S, 0), ("Type", S, 0), ("Reason", S, 0), ("Object", S, 0), ("Subobject", S, 1), ("Source", S, 1), ("Message", S, 0), ("First Seen", S, 1), ("Count", S, 1), ("Name", S, 1)],
        "Namespace" => &[NAME, ("Status", S, 0), AGE],
        "ConfigMap" => &[NAME, ("Data", S, 0), AGE],
        "Secret" => &[NAME, ("Type", S, 0), ("Data", S, 0), AGE],
        "Endpoints" => &[NAME, ("Endpoints", S, 0), AGE],
        "EndpointSlice" => &[NAME, ("AddressType", S, 0), ("Ports", S, 0), ("Endpoints", S, 0), AGE],
        "Lease" => &[NAME, ("Holder", S, 0), AGE],
        "CSINode" => &[NAME, ("Drivers", I, 0), AGE],
        "PriorityClass" => &[NAME, ("Value", I, 0), ("Global-Default", B, 0), AGE, ("PreemptionPolicy", S, 0)],
        "StorageClass" => &[NAME, ("Provisioner", S, 0), ("ReclaimPolicy", S, 0), ("VolumeBindingMode", S, 0), ("AllowVolumeExpansion", S, 0), AGE],
        "PersistentVolumeClaim" => &[NAME, ("Status", S, 0), ("Volume", S, 0), ("Capacity", S, 0), ("Access Modes", S, 0), ("StorageClass", S, 0), ("VolumeAttributesClass", S, 0), AGE, ("VolumeMode", S, 1)],
        "CertificateSigningRequest" => &[NAME, AGE, ("SignerName", S, 0), ("Requestor", S, 0), ("RequestedDuration", S, 0), ("Condition", S, 0)],
        "CustomResourceDefinition" | "Role" | "ClusterRole" => &[NAME, ("Created At", "date", 0)],
        _ => &[NAME, AGE],
    }
}
