//! Why something is not ready: from the object down to what caused it.
//!
//! ```text
//!  Deployment ◄── ReplicaSet ◄── Pod ◄── container ◄── event
//!  DaemonSet, StatefulSet, Job ◄── Pod ◄── …
//!  Node ◄── condition        PersistentVolumeClaim ◄── event
//! ```
//!
//! [`explain`] is pure over objects that were fetched; [`Cluster::why`]
//! fetches them and asks it.
//!
//! [`Cluster::why`]: crate::Cluster::why

mod fetch;
mod happening;
mod path;

use std::fmt;

use crate::status::{Condition, Facts, ailments};
use crate::{Object, Status};
use happening::latest_warning;
pub(crate) use path::path;

/// What lies around an object: what it made, and what happened.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Replica sets, of whomever.
    pub replica_sets: Vec<Object>,
    /// Pods, of whomever.
    pub pods: Vec<Object>,
    /// Events, about whatever.
    pub events: Vec<Object>,
}

/// Why an object is not ready, each link caused by the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The links, the object itself first.
    pub links: Vec<Link>,
}

/// One object or container, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What says it, such as `pod web-7d9c`.
    pub who: String,
    /// What it says.
    pub says: String,
}

/// Explains why an object is not ready; an empty chain where it is.
pub fn explain(root: &Object, around: &Surroundings) -> Chain {
    let mut chain = Chain::default();
    if Status::of(root).is_ready() {
        return chain;
    }
    for object in path(root, around) {
        chain.add_object(object);
    }
    let Some(last) = path(root, around).pop() else { return chain };
    chain.add_containers(last);
    if last.kind().is("", "Node") {
        chain.add_conditions(last);
    }
    // Who is lowest is closest to the cause; its owner may have tried in vain to make it.
    let mut warned = path(root, around).into_iter().rev();
    let warning = warned.find_map(|object| latest_warning(object, &around.events));
    if let Some(warning) = warning.filter(|warning| chain.is_news(warning)) {
        chain.add("event", warning);
    }
    chain
}

// === impl Chain ===

impl Chain {
    /// Returns the lines for a cause or a wait.
    pub fn lines(&self) -> Vec<String> {
        self.links.iter().map(ToString::to_string).collect()
    }

    fn add(&mut self, who: impl Into<String>, says: impl Into<String>) {
        self.links.push(Link { who: who.into(), says: says.into() });
    }

    fn add_object(&mut self, object: &Object) {
        let status = Status::of(object);
        let says = match status.because() {
            // Its containers speak for themselves.
            Some(_) if object.kind().is("", "Pod") && !ailments(object).is_empty() => {
                where_it_is(object)
            }
            Some(because) => because.to_owned(),
            None => "ready".to_owned(),
        };
        self.add(who(object), says);
    }

    fn add_containers(&mut self, object: &Object) {
        if object.kind().is("", "Pod")
            && let Some(ailment) = ailments(object).into_iter().next()
        {
            self.add(format!("container {}", ailment.container), ailment.says);
        }
    }

    /// What a kubelet complains of besides not being ready.
    fn add_conditions(&mut self, node: &Object) {
        let pressing = ["NetworkUnavailable", "DiskPressure", "MemoryPressure", "PIDPressure"];
        let conditions = pressing.iter().filter_map(|name| Facts(node).condition(name));
        for condition in conditions.filter(|condition| condition.is("True")) {
            self.add("condition", Condition::says(condition));
        }
    }

    /// Events often repeat what a container or a condition says.
    fn is_news(&self, warning: &str) -> bool {
        let told = warning.split_once(": ").map_or(warning, |(_, message)| message);
        !self.links.iter().any(|link| link.says.contains(told))
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.who, self.says)
    }
}

fn who(object: &Object) -> String {
    format!("{} {}", object.kind().kind.to_lowercase(), object.id().name)
}

fn where_it_is(pod: &Object) -> String {
    let phase = pod.text("/status/phase").unwrap_or("Unknown").to_lowercase();
    match pod.text("/spec/nodeName") {
        Some(node) => format!("{phase} on {node}"),
        None => format!("{phase}, without a node"),
    }
}

#[cfg(test)]
mod tests;
