//! What two worlds must have in common to be alike: all but ids, times,
//! addresses that somebody assigned, and what comes and goes by itself.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sim::hetzner::Holding;
use sim::world::{ClusterInventory, Inventory};

use crate::sea::Shape;

/// What a world holds of one cluster, a line each, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Likeness(Vec<String>);

/// What differs between two worlds that are alike: ids and times, who has which
/// assigned address, and what health checks found last.
const ACCIDENTS: &[&str] = &[
    "clusterIP",
    "clusterIPs",
    "created",
    "creationTimestamp",
    "dns_ptr",
    "fingerprint",
    "health_status",
    "managedFields",
    "podCIDR",
    "podCIDRs",
    "public_key",
    "resourceVersion",
    "status",
    "time",
    "uid",
];

/// What comes and goes by itself.
const FLEETING: &[&str] = &["Event", "Lease"];

impl Likeness {
    /// Returns the likeness of all that is not in `of_others`.
    pub(crate) fn of(inventory: &Inventory, of_others: &[Holding]) -> Self {
        let ours = || inventory.holdings.iter().filter(|it| !of_others.contains(it));
        let names: BTreeMap<_, _> = ours()
            .filter_map(|it| Some((it.view["id"].as_i64()?, format!("{} {}", it.kind, it.name))))
            .collect();
        let mut lines: Vec<_> = ours()
            .map(|it| format!("{} {}: {}", it.kind, it.name, plain(&it.view, &names)))
            .collect();
        for ClusterInventory { etcds, objects } in &inventory.clusters {
            lines.extend(etcds.iter().map(|etcd| {
                let mut members: Vec<_> =
                    etcd.members.iter().map(|it| (&it.hostname, it.is_learner)).collect();
                members.sort();
                format!("etcd of {members:?}")
            }));
            // What has an owner follows from it, under a name by chance.
            let own = objects.iter().filter(|it| it["metadata"]["ownerReferences"].is_null());
            lines.extend(own.filter_map(|it| object(it, &names)));
        }
        lines.sort();
        Self(lines)
    }

    /// Says what is wrong where there is not exactly one of everything that a
    /// cluster of this shape is made of, in a cloud.
    pub(crate) fn is_complete(&self, shape: Shape) -> Result<(), String> {
        let nodes = shape.control_planes + shape.workers;
        let bought = [("server ", nodes), ("network ", 1), ("firewall ", 1), ("load_balancer ", 1)];
        self.has_just(&bought)?;
        self.has_just(&[("ssh_key ", 1), ("volume ", 0)])?;
        self.is_one_cluster(shape)
    }

    /// Says what is wrong where the machines are not one cluster of this shape.
    pub(crate) fn is_one_cluster(&self, shape: Shape) -> Result<(), String> {
        self.has_just(&[("etcd ", 1), ("Node ", shape.control_planes + shape.workers)])?;
        let mut once = self.0.clone();
        once.dedup();
        if once == self.0 { Ok(()) } else { Err("something is there twice".to_owned()) }
    }

    fn has_just(&self, wanted: &[(&str, usize)]) -> Result<(), String> {
        for &(kind, wanted) in wanted {
            let count = self.0.iter().filter(|line| line.starts_with(kind)).count();
            if count != wanted {
                return Err(format!("{count} of {kind}and not {wanted}"));
            }
        }
        Ok(())
    }

    /// Says how this differs from what was expected.
    pub(crate) fn is_like(&self, expected: &Self) -> Result<(), String> {
        let lacks = |a: &Self, b: &Self| -> Vec<String> {
            a.0.iter().filter(|line| !b.0.contains(line)).cloned().collect()
        };
        match (lacks(expected, self), lacks(self, expected)) {
            (missing, surplus) if missing.is_empty() && surplus.is_empty() => {
                if self.0.len() == expected.0.len() { Ok(()) } else { Err("twice".to_owned()) }
            }
            (missing, surplus) => {
                Err(format!("missing:\n{}\nsurplus:\n{}", missing.join("\n"), surplus.join("\n")))
            }
        }
    }
}

fn object(object: &Value, names: &BTreeMap<i64, String>) -> Option<String> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let kind = text("/kind");
    let line = format!("{kind} {}/{}", text("/metadata/namespace"), text("/metadata/name"));
    if FLEETING.contains(&kind) {
        return None;
    }
    // Of what others keep for themselves, only that it is there.
    let managers = object["metadata"]["managedFields"].as_array();
    let delivered = managers.is_some_and(|all| all.iter().any(|it| it["manager"] == "seaworthy"));
    Some(if delivered { format!("{line}: {}", plain(object, names)) } else { line })
}

/// Returns a value without accidents; ids of what is known become its name.
fn plain(value: &Value, names: &BTreeMap<i64, String>) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| !ACCIDENTS.contains(&key.as_str()));
            let plain = kept.map(|(key, value)| {
                let value = match key.as_str() {
                    "id" | "destination" | "mac_address" => Value::Null,
                    _ => plain(value, names),
                };
                (key.clone(), value)
            });
            Value::Object(plain.collect::<Map<_, _>>())
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| plain(item, names)).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Number(number) => {
            let thing = number.as_i64().and_then(|id| names.get(&id));
            thing.map_or_else(|| value.clone(), |name| name.as_str().into())
        }
        Value::String(text) if text.starts_with("127.") || is_assigned(text) => "assigned".into(),
        other => other.clone(),
    }
}

/// Public networks are given out in the order of orders.
fn is_assigned(text: &str) -> bool {
    text.parse::<ipnet::Ipv6Net>().is_ok()
}
