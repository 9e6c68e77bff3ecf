//! Firewalls. They act on public interfaces only, and what they do not let in stays out.

use std::fmt;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

use super::{Id, Kind, Resource, Server};
use crate::Labels;

/// A firewall.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Firewall {
    /// Its id.
    pub id: Id<Self>,
    /// Its name.
    pub name: String,
    /// What it lets through.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// What it is put on.
    #[serde(default)]
    pub applied_to: Vec<AppliedTo>,
    /// Its labels.
    #[serde(default)]
    pub labels: Labels,
}

/// An opening for traffic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rule {
    /// `in` or `out`.
    pub direction: Direction,
    /// `tcp`, `udp`, `icmp`, `esp` or `gre`.
    pub protocol: String,
    /// A port or a range, such as `6443` or `30000-32767`, where the protocol has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// Who may come in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_ips: Vec<IpNet>,
    /// Where traffic may go.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destination_ips: Vec<IpNet>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Which way traffic goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the server.
    In,
    /// From the server.
    Out,
}

/// What a firewall is put on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AppliedTo {
    /// One server.
    Server {
        /// Which.
        server: ServerRef,
    },
    /// All servers with certain labels, now and later.
    LabelSelector {
        /// Which labels.
        label_selector: Selector,
    },
}

/// A server, by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerRef {
    /// The id.
    pub id: Id<Server>,
}

/// Servers, by their labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selector {
    /// In Hetzner's words, such as `key=value,other`.
    pub selector: String,
}

// === impl Firewall ===

impl Resource for Firewall {
    const KIND: Kind = Kind::Firewall;

    fn id(&self) -> Id<Self> {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }
}

impl Firewall {
    /// Returns whether it lets through just what these rules do; neither
    /// their order nor what they are called matters.
    pub fn lets_through(&self, rules: &[Rule]) -> bool {
        normal(&self.rules) == normal(rules)
    }

    /// Returns which of these rules it lacks, and which it has besides.
    pub fn differences(&self, rules: &[Rule]) -> (Vec<Rule>, Vec<Rule>) {
        let (own, wanted) = (normal(&self.rules), normal(rules));
        let without = |all: &[Rule], others: &[Rule]| {
            all.iter().filter(|rule| !others.contains(rule)).cloned().collect()
        };
        (without(&wanted, &own), without(&own, &wanted))
    }
}

/// Returns rules in one order and without what they are called.
pub(super) fn normal(rules: &[Rule]) -> Vec<Rule> {
    let sorted = |mut rule: Rule| {
        rule.source_ips.sort();
        rule.destination_ips.sort();
        Rule { description: None, ..rule }
    };
    let mut rules: Vec<_> = rules.iter().cloned().map(sorted).collect();
    rules.sort();
    rules
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (way, ends) = match self.direction {
            Direction::In => ("in from", &self.source_ips),
            Direction::Out => ("out to", &self.destination_ips),
        };
        let port = self.port.as_ref().map(|port| format!(" {port}")).unwrap_or_default();
        let ends: Vec<_> = ends.iter().map(ToString::to_string).collect();
        write!(f, "{}{port} {way} {}", self.protocol, ends.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rule(port: &str, sources: &[&str]) -> Rule {
        Rule {
            direction: Direction::In,
            protocol: "tcp".to_owned(),
            port: Some(port.to_owned()),
            source_ips: sources.iter().map(|source| source.parse().unwrap()).collect(),
            destination_ips: Vec::new(),
            description: None,
        }
    }

    fn firewall(rules: Vec<Rule>) -> Firewall {
        let (id, name, labels) = (Id::new(1), "demo".to_owned(), Labels::new());
        Firewall { id, name, rules, applied_to: Vec::new(), labels }
    }

    #[test]
    fn order_and_description_do_not_make_another_firewall() {
        let there = firewall(vec![
            Rule { description: Some("API".to_owned()), ..rule("6443", &["::/0", "0.0.0.0/0"]) },
            rule("50000", &["198.51.100.7/32"]),
        ]);
        let wanted = [rule("50000", &["198.51.100.7/32"]), rule("6443", &["0.0.0.0/0", "::/0"])];
        assert!(there.lets_through(&wanted));
        assert!(!there.lets_through(&wanted[..1]));
        assert!(!there.lets_through(&[rule("50000", &["0.0.0.0/0"]), wanted[1].clone()]));
    }

    #[test]
    fn rules_survive_the_wire() {
        let wire = r#"{"type":"label_selector","label_selector":{"selector":"a=b"},
            "applied_to_resources":[{"type":"server","server":{"id":7}}]}"#;
        let to: AppliedTo = serde_json::from_str(wire).unwrap();
        assert_eq!(
            serde_json::to_value(&to).unwrap(),
            json!({ "type": "label_selector", "label_selector": { "selector": "a=b" } })
        );
        let text = serde_json::to_string(&rule("6443", &["0.0.0.0/0"])).unwrap();
        let expected =
            r#"{"direction":"in","protocol":"tcp","port":"6443","source_ips":["0.0.0.0/0"]}"#;
        assert_eq!(text, expected);
    }
}
