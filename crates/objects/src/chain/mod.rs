//! Why something is not ready: from the object down to what caused it.
//!
//! ```text
//!  Deployment ◄── ReplicaSet ◄── Pod ◄── container ◄── event ◄── log line
//!  DaemonSet, StatefulSet, Job, CronJob ◄── Pod ◄── …
//!  Pod without a node ◄── PersistentVolumeClaim ◄── volume or class ◄── event
//!  Pod on a node ◄── Node ◄── condition
//!  Service ◄── EndpointSlice ◄── Pod ◄── …     APIService ◄── Service ◄── …
//!  Kustomization, HelmRelease ◄── dependsOn ◄── source ◄── inventory ◄── …
//!  Namespace ◄── condition
//! ```
//!
//! One table, [`leads`], says what lies below an object. [`explain`] follows
//! it over objects that were fetched and is pure; [`Cluster::why`] fetches
//! what the table asks for, step by step, and no more.
//!
//! [`Cluster::why`]: crate::Cluster::why

mod fetch;
mod flux;
mod happening;
mod leads;
mod log;
mod pool;
mod says;

use std::fmt;

use crate::status::{Condition, Facts, unwell};
use crate::{Object, ObjectId, Scope};
pub use happening::happened_at;
use happening::latest_warning;
pub use log::LogTail;
pub(crate) use pool::{Found, Pool};
use says::{is_well, says};

/// What lies around an object: what it made, what it needs, what happened.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Objects, of whatever kind.
    pub objects: Vec<Object>,
    /// Objects that the API was asked for and does not have.
    pub absent: Vec<ObjectId>,
    /// What was listed: what is of it and not among the objects is not there.
    pub listed: Vec<Scope>,
    /// Events, about whatever.
    pub events: Vec<Object>,
    /// The last lines of containers.
    pub logs: Vec<LogTail>,
    /// What could not be looked at, and why.
    pub blind: Vec<String>,
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
    /// Where that was read.
    pub read_in: ReadIn,
}

/// Where the words of a link were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadIn {
    /// In an object, an event, or an answer of the API.
    Api,
    /// In the log of a container, which may say anything.
    Log,
}

/// Explains why an object is not ready; an empty chain where it is.
pub fn explain(root: &Object, around: &Surroundings) -> Chain {
    let pool = Pool::of(around);
    let mut chain = explain_in(root, &pool);
    if chain.links.is_empty() {
        return chain;
    }
    let path = pool.path(root);
    let passed = |id: &ObjectId| path.iter().filter_map(Found::object).any(|one| one.id() == id);
    around.logs.iter().filter(|log| passed(&log.pod)).for_each(|log| chain.add_log(log));
    around.blind.iter().for_each(|blind| chain.add("not seen", blind));
    chain
}

/// Explains with what is under watch.
pub(crate) fn explain_in(root: &Object, pool: &Pool<'_>) -> Chain {
    let mut chain = Chain::default();
    if is_well(root, pool) {
        return chain;
    }
    let path = pool.path(root);
    for found in &path {
        chain.add_found(found, pool);
    }
    if let Some(Found::There(last)) = path.last() {
        chain.add_details(last);
    }
    // Who is lowest is closest to the cause; its owner may have tried in vain to make it.
    let mut lowest_first = path.iter().rev().filter_map(Found::object);
    let warning = lowest_first.find_map(|object| latest_warning(pool.events_about(object)));
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

    /// Leaves out what logs say, for what is written to disk: whoever asks for a
    /// log sees it, but nobody knows which secrets it holds.
    #[must_use]
    pub fn without_logs(self) -> Self {
        let (logs, mut links): (Vec<Link>, Vec<Link>) =
            self.links.into_iter().partition(|link| link.read_in == ReadIn::Log);
        if let Some(log) = logs.into_iter().next() {
            let says = "it is not kept, as it may hold secrets".to_owned();
            links.push(Link { says, read_in: ReadIn::Api, ..log });
        }
        Self { links }
    }

    /// Keeps of a log the last line only: that is where a program says why it ended.
    #[must_use]
    pub fn with_last_log_line(self) -> Self {
        let last = self.links.iter().rposition(|link| link.read_in == ReadIn::Log);
        let links = self.links.into_iter().enumerate();
        let kept = links.filter(|(at, link)| link.read_in != ReadIn::Log || Some(*at) == last);
        Self { links: kept.map(|(_, link)| link).collect() }
    }

    fn add(&mut self, who: impl Into<String>, says: impl Into<String>) {
        self.links.push(Link { who: who.into(), says: says.into(), read_in: ReadIn::Api });
    }

    fn add_found(&mut self, found: &Found<'_>, pool: &Pool<'_>) {
        match found {
            Found::There(object) => self.add(who(object.id()), says(object, pool)),
            Found::Missing(id) => self.add(who(id), "it is not there"),
        }
    }

    fn add_details(&mut self, last: &Object) {
        match last.kind().kind.as_str() {
            "Pod" => {
                if let Some(one) = unwell(last).into_iter().next() {
                    self.add(format!("container {}", one.container), one.says);
                }
            }
            // What a kubelet complains of besides not being ready.
            "Node" => self.add_conditions(
                last,
                &["NetworkUnavailable", "DiskPressure", "MemoryPressure", "PIDPressure"],
            ),
            "Namespace" => self.add_conditions(last, &crate::delete::NAMESPACE_CONDITIONS),
            _ => {}
        }
    }

    fn add_conditions(&mut self, object: &Object, names: &[&str]) {
        let conditions = names.iter().filter_map(|name| Facts(object).condition(name));
        for condition in conditions.filter(|condition| condition.is("True")) {
            self.add("condition", Condition::says(condition));
        }
    }

    fn add_log(&mut self, log: &LogTail) {
        for line in &log.lines {
            let (who, says) = (format!("log of {}", log.container), line.clone());
            self.links.push(Link { who, says, read_in: ReadIn::Log });
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

fn who(id: &ObjectId) -> String {
    format!("{} {}", id.kind.kind.to_lowercase(), id.name)
}

#[cfg(test)]
mod tests;
