//! The rows of built-in kinds, in the order of their columns.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::pods;
use super::text::{age, joined, labels, number, or_none, selector, span, text};
use crate::kube::object::{has_condition, items, name};

/// Returns the cells of an object.
pub(super) fn cells(kind: &str, object: &Value, now: Timestamp) -> Vec<Value> {
    let row = Row { object, now };
    match kind {
        "Pod" => pods::cells(object, now),
        "Node" => row.node(),
        "Deployment" => row.deployment(),
        "ReplicaSet" => row.replica_set(),
        "DaemonSet" => row.daemon_set(),
        "StatefulSet" => row.stateful_set(),
        "Job" => row.job(),
        "Service" => row.service(),
        "Event" => row.event(),
        "Namespace" => row.with(&[json!(object["status"]["phase"])]),
        "ConfigMap" => row.with(&[json!((row.size("data") + row.size("binaryData")).to_string())]),
        "Secret" => row.with(&[object["type"].clone(), json!(row.size("data").to_string())]),
        "Endpoints" => row.with(&[json!(row.endpoints())]),
        "EndpointSlice" => row.endpoint_slice(),
        "Lease" => row.with(&[json!(text(&object["spec"]["holderIdentity"]))]),
        "CSINode" => row.with(&[json!(items(&object["spec"]["drivers"]).len())]),
        "PriorityClass" => row.priority_class(),
        "StorageClass" => row.storage_class(),
        "PersistentVolumeClaim" => row.claim(),
        "CertificateSigningRequest" => row.signing_request(),
        "CustomResourceDefinition" | "Role" | "ClusterRole" => {
            vec![json!(name(object)), object["metadata"]["creationTimestamp"].clone()]
        }
        _ => row.with(&[]),
    }
}

/// An object that is to become a row.
struct Row<'a> {
    object: &'a Value,
    now: Timestamp,
}

impl Row<'_> {
    fn age(&self) -> Value {
        json!(age(&self.object["metadata"]["creationTimestamp"], self.now))
    }

    /// Puts cells between name and age.
    fn with(&self, cells: &[Value]) -> Vec<Value> {
        let mut row = vec![json!(name(self.object))];
        row.extend_from_slice(cells);
        row.push(self.age());
        row
    }

    fn size(&self, field: &str) -> usize {
        self.object[field].as_object().map_or(0, serde_json::Map::len)
    }

    /// Adds what `-o wide` shows of a workload.
    fn template(&self, mut row: Vec<Value>) -> Vec<Value> {
        let containers = &self.object["spec"]["template"]["spec"]["containers"];
        row.push(json!(joined(containers, "name")));
        row.push(json!(joined(containers, "image")));
        row.push(json!(selector(&self.object["spec"]["selector"])));
        row
    }

    fn node(&self) -> Vec<Value> {
        let (spec, info) = (&self.object["spec"], &self.object["status"]["nodeInfo"]);
        let mut states = vec![if has_condition(self.object, "Ready", "True") {
            "Ready"
        } else if items(&self.object["status"]["conditions"])
            .iter()
            .any(|one| one["type"] == "Ready")
        {
            "NotReady"
        } else {
            "Unknown"
        }];
        if spec["unschedulable"] == true {
            states.push("SchedulingDisabled");
        }
        let labels = self.object["metadata"]["labels"].as_object();
        let roles = labels
            .into_iter()
            .flatten()
            .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"));
        let roles = roles.collect::<Vec<_>>().join(",");
        let address = |kind: &str| {
            let found =
                items(&self.object["status"]["addresses"]).iter().find(|one| one["type"] == kind);
            json!(or_none(found.map(|one| text(&one["address"])).unwrap_or_default()))
        };
        let known =
            |value: &Value| if text(value).is_empty() { json!("<unknown>") } else { value.clone() };
        vec![
            json!(name(self.object)),
            json!(states.join(",")),
            json!(or_none(&roles)),
            self.age(),
            info["kubeletVersion"].clone(),
            address("InternalIP"),
            address("ExternalIP"),
            known(&info["osImage"]),
            known(&info["kernelVersion"]),
            known(&info["containerRuntimeVersion"]),
        ]
    }

    fn deployment(&self) -> Vec<Value> {
        let status = &self.object["status"];
        let ready = format!(
            "{}/{}",
            number(&status["readyReplicas"]),
            number(&self.object["spec"]["replicas"])
        );
        self.template(self.with(&[
            json!(ready),
            json!(number(&status["updatedReplicas"]).to_string()),
            json!(number(&status["availableReplicas"]).to_string()),
        ]))
    }

    fn replica_set(&self) -> Vec<Value> {
        let status = &self.object["status"];
        self.template(self.with(&[
            json!(number(&self.object["spec"]["replicas"])),
            json!(number(&status["replicas"])),
            json!(number(&status["readyReplicas"])),
        ]))
    }

    fn daemon_set(&self) -> Vec<Value> {
        let status = &self.object["status"];
        let count = |field: &str| json!(number(&status[field]));
        self.template(self.with(&[
            count("desiredNumberScheduled"),
            count("currentNumberScheduled"),
            count("numberReady"),
            count("updatedNumberScheduled"),
            count("numberAvailable"),
            json!(labels(&self.object["spec"]["template"]["spec"]["nodeSelector"])),
        ]))
    }

    fn stateful_set(&self) -> Vec<Value> {
        let ready = number(&self.object["status"]["readyReplicas"]);
        let mut row =
            self.with(&[json!(format!("{ready}/{}", number(&self.object["spec"]["replicas"])))]);
        let containers = &self.object["spec"]["template"]["spec"]["containers"];
        row.extend([json!(joined(containers, "name")), json!(joined(containers, "image"))]);
        row
    }

    fn job(&self) -> Vec<Value> {
        let status = &self.object["status"];
        let state = ["Complete", "Failed", "Suspended"];
        let state = state.iter().find(|kind| has_condition(self.object, kind, "True"));
        let time =
            |field: &str| status[field].as_str().and_then(|text| text.parse::<Timestamp>().ok());
        let end = time("completionTime").unwrap_or(self.now);
        let lasted = time("startTime").map(|start| span(end.as_second() - start.as_second()));
        self.template(self.with(&[
            json!(state.copied().unwrap_or("Running")),
            json!(format!(
                "{}/{}",
                number(&status["succeeded"]),
                number(&self.object["spec"]["completions"])
            )),
            json!(lasted.unwrap_or_default()),
        ]))
    }

    fn service(&self) -> Vec<Value> {
        let spec = &self.object["spec"];
        let port = |port: &Value| {
            let node = port["nodePort"].as_i64().map(|node| format!(":{node}")).unwrap_or_default();
            format!("{}{node}/{}", number(&port["port"]), text(&port["protocol"]))
        };
        let ports: Vec<String> = items(&spec["ports"]).iter().map(port).collect();
        let ingress = items(&self.object["status"]["loadBalancer"]["ingress"]);
        let outside: Vec<&str> = ingress
            .iter()
            .filter_map(|one| one["ip"].as_str().or(one["hostname"].as_str()))
            .collect();
        let outside = match (outside.is_empty(), text(&spec["type"])) {
            (true, "LoadBalancer") => "<pending>".to_owned(),
            _ => or_none(&outside.join(",")),
        };
        let mut row = self.with(&[
            spec["type"].clone(),
            json!(or_none(text(&spec["clusterIP"]))),
            json!(outside),
            json!(or_none(&ports.join(","))),
        ]);
        row.push(json!(labels(&spec["selector"])));
        row
    }

    fn event(&self) -> Vec<Value> {
        let event = self.object;
        let first = |names: [&str; 2]| {
            names.into_iter().find_map(|name| event.get(name).filter(|v| !v.is_null()))
        };
        let about = first(["involvedObject", "regarding"]).unwrap_or(&Value::Null);
        let time = |names: [&str; 2]| {
            let time = first(names).unwrap_or(&event["eventTime"]);
            json!(age(time, self.now))
        };
        let source = first(["source", "deprecatedSource"]).unwrap_or(&Value::Null);
        let host = source["host"].as_str().map(|host| format!(", {host}")).unwrap_or_default();
        let count = first(["count", "deprecatedCount"]).map_or(1, number);
        vec![
            time(["lastTimestamp", "deprecatedLastTimestamp"]),
            event["type"].clone(),
            event["reason"].clone(),
            json!(format!("{}/{}", text(&about["kind"]).to_lowercase(), text(&about["name"]))),
            json!(text(&about["fieldPath"])),
            json!(format!("{}{host}", text(&source["component"]))),
            json!(text(first(["message", "note"]).unwrap_or(&Value::Null)).trim()),
            time(["firstTimestamp", "deprecatedFirstTimestamp"]),
            json!(count.to_string()),
            json!(name(event)),
        ]
    }

    fn endpoints(&self) -> String {
        let mut all = Vec::new();
        for subset in items(&self.object["subsets"]) {
            for address in items(&subset["addresses"]) {
                let ip = text(&address["ip"]);
                all.extend(
                    items(&subset["ports"])
                        .iter()
                        .map(|port| format!("{ip}:{}", number(&port["port"]))),
                );
            }
        }
        shortened(&all)
    }

    fn endpoint_slice(&self) -> Vec<Value> {
        let ports: Vec<String> = items(&self.object["ports"])
            .iter()
            .map(|port| number(&port["port"]).to_string())
            .collect();
        let ports = if ports.is_empty() { "<unset>".to_owned() } else { shortened(&ports) };
        let addresses =
            items(&self.object["endpoints"]).iter().flat_map(|one| items(&one["addresses"]));
        let addresses: Vec<String> = addresses.map(|one| text(one).to_owned()).collect();
        let addresses =
            if addresses.is_empty() { "<unset>".to_owned() } else { shortened(&addresses) };
        self.with(&[self.object["addressType"].clone(), json!(ports), json!(addresses)])
    }

    fn priority_class(&self) -> Vec<Value> {
        let global = self.object["globalDefault"] == true;
        let mut row = self.with(&[self.object["value"].clone(), json!(global)]);
        row.push(self.object["preemptionPolicy"].clone());
        row
    }

    fn storage_class(&self) -> Vec<Value> {
        let object = self.object;
        let default = object["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"]
            == "true";
        let expands = object["allowVolumeExpansion"] == true;
        let mut row = self.with(&[
            object["provisioner"].clone(),
            object["reclaimPolicy"].clone(),
            object["volumeBindingMode"].clone(),
            json!(expands.to_string()),
        ]);
        if default {
            row[0] = json!(format!("{} (default)", name(object)));
        }
        row
    }

    fn claim(&self) -> Vec<Value> {
        let (spec, status) = (&self.object["spec"], &self.object["status"]);
        let mode = |mode: &str| match mode {
            "ReadWriteOnce" => "RWO",
            "ReadOnlyMany" => "ROX",
            "ReadWriteMany" => "RWX",
            _ => "RWOP",
        };
        let modes: Vec<&str> =
            items(&status["accessModes"]).iter().map(|one| mode(text(one))).collect();
        let mut row = self.with(&[
            json!(text(&status["phase"])),
            json!(text(&spec["volumeName"])),
            json!(text(&status["capacity"]["storage"])),
            json!(modes.join(",")),
            json!(text(&spec["storageClassName"])),
            json!("<unset>"),
        ]);
        row.push(json!(text(&spec["volumeMode"])));
        row
    }

    fn signing_request(&self) -> Vec<Value> {
        let spec = &self.object["spec"];
        let conditions = items(&self.object["status"]["conditions"]);
        let mut states: Vec<&str> = conditions.iter().map(|one| text(&one["type"])).collect();
        if states.is_empty() {
            states.push("Pending");
        }
        if !text(&self.object["status"]["certificate"]).is_empty() {
            states.push("Issued");
        }
        let lasts = spec["expirationSeconds"].as_i64().map_or("<none>".to_owned(), span);
        vec![
            json!(name(self.object)),
            self.age(),
            spec["signerName"].clone(),
            json!(text(&spec["username"])),
            json!(lasts),
            json!(states.join(",")),
        ]
    }
}

/// Writes at most three, and how many there are besides.
fn shortened(all: &[String]) -> String {
    match all.len() {
        0..=3 => or_none(&all.join(",")),
        len => format!("{} + {} more...", all[..3].join(","), len - 3),
    }
}
