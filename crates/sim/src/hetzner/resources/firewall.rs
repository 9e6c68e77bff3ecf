//! Firewalls: rules, and what they are applied to.
//!
//! The rules are data. Nothing filters packets on loopback addresses.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Server;
use crate::hetzner::action::Reference;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::selector::Selector;
use crate::hetzner::shelf::{Card, Resource, Shelf};

/// A firewall.
#[derive(Debug)]
pub(crate) struct Firewall {
    pub(crate) card: Card,
    pub(crate) rules: Vec<Rule>,
    pub(crate) applied: Vec<Applied>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rule {
    direction: String,
    #[serde(default)]
    source_ips: Vec<String>,
    #[serde(default)]
    destination_ips: Vec<String>,
    protocol: String,
    #[serde(default)]
    port: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

/// What a firewall protects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    Server(i64),
    Selector(Selector),
}

/// How many rules a firewall can have.
const RULE_LIMIT: usize = 50;

/// How many networks a rule can have.
const IP_LIMIT: usize = 100;

/// How many characters the description of a rule can have.
const DESCRIPTION_LIMIT: usize = 255;

impl Firewall {
    /// Says whether the firewall protects a server, directly or by its labels.
    pub(crate) fn covers(&self, server: &Server) -> bool {
        self.applied.iter().any(|it| it.covers(server))
    }

    /// Says whether a label selector puts the firewall on a server.
    pub(crate) fn selects(&self, server: i64, project: &Project) -> bool {
        let mut selectors = self.applied.iter().filter(|it| matches!(it, Applied::Selector(_)));
        selectors.any(|it| it.servers(project).contains(&server))
    }

    /// Returns how a server shows this firewall.
    pub(crate) fn on_server(&self, server: i64, project: &Project) -> Value {
        let (ours, theirs) = (Reference::to::<Self>(self.card.id), Reference::to::<Server>(server));
        let pending = project
            .actions
            .values()
            .any(|action| action.is_running() && action.concerns(ours) && action.concerns(theirs));
        json!({ "id": self.card.id, "status": if pending { "pending" } else { "applied" } })
    }
}

impl Applied {
    fn covers(&self, server: &Server) -> bool {
        match self {
            Self::Server(id) => *id == server.card.id,
            Self::Selector(selector) => selector.matches(&server.card.labels),
        }
    }

    /// Returns the servers that are meant.
    pub(crate) fn servers(&self, project: &Project) -> Vec<i64> {
        let covered = project.servers.iter().filter(|server| self.covers(server));
        covered.map(|server| server.card.id).collect()
    }

    fn view(&self, project: &Project) -> Value {
        let server = |id: i64| json!({ "type": "server", "server": { "id": id } });
        match self {
            Self::Server(id) => server(*id),
            Self::Selector(selector) => json!({
                "type": "label_selector",
                "label_selector": { "selector": selector.as_str() },
                "applied_to_resources":
                    self.servers(project).into_iter().map(server).collect::<Vec<_>>(),
            }),
        }
    }
}

impl Rule {
    /// Refuses rules that the API would not take.
    pub(crate) fn check(rules: &[Self]) -> Result<(), Refusal> {
        if rules.len() > RULE_LIMIT {
            return Err(Refusal::invalid("rules", "a firewall has at most 50 rules"));
        }
        rules.iter().enumerate().try_for_each(|(at, rule)| rule.check_one(at))
    }

    fn check_one(&self, at: usize) -> Result<(), Refusal> {
        let refuse = |field: &str, message: &str| {
            Err(Refusal::invalid(&format!("rules.{at}.{field}"), message))
        };
        let with_port = matches!(self.protocol.as_str(), "tcp" | "udp");
        let ips = match self.direction.as_str() {
            "in" => &self.source_ips,
            "out" => &self.destination_ips,
            _ => return refuse("direction", "must be in or out"),
        };
        if !with_port && !matches!(self.protocol.as_str(), "icmp" | "esp" | "gre") {
            refuse("protocol", "must be tcp, udp, icmp, esp or gre")
        } else if with_port != self.port.is_some() {
            refuse("port", "tcp and udp need one, others have none")
        } else if !self.port.as_deref().is_none_or(is_port_range) {
            refuse("port", "must be a port, a range or any")
        } else if ips.is_empty() || !ips.iter().all(|ip| is_network(ip)) {
            let field = if self.direction == "in" { "source_ips" } else { "destination_ips" };
            refuse(field, "must be networks in CIDR notation")
        } else if ips.len() > IP_LIMIT {
            refuse("source_ips", "must be at most 100 networks")
        } else if self.description.as_ref().is_some_and(|it| it.chars().count() > DESCRIPTION_LIMIT)
        {
            refuse("description", "must have at most 255 characters")
        } else {
            Ok(())
        }
    }
}

impl Resource for Firewall {
    const KIND: &'static str = "firewall";
    const PLURAL: &'static str = "firewalls";

    fn card(&self) -> &Card {
        &self.card
    }

    fn card_mut(&mut self) -> &mut Card {
        &mut self.card
    }

    fn shelf(project: &Project) -> &Shelf<Self> {
        &project.firewalls
    }

    fn shelf_mut(project: &mut Project) -> &mut Shelf<Self> {
        &mut project.firewalls
    }

    fn view(&self, project: &Project) -> Value {
        let lost = &project.knobs.lost_firewall_port;
        let kept = |rule: &&Rule| lost.is_none() || rule.port != *lost;
        json!({
            "id": self.card.id,
            "name": self.card.name,
            "labels": self.card.labels,
            "created": self.card.created,
            "rules": self.rules.iter().filter(kept).collect::<Vec<_>>(),
            "applied_to": self.applied.iter().map(|it| it.view(project)).collect::<Vec<_>>(),
        })
    }

    /// It stays in use until its removal has reached the last server.
    fn check_unused(&self, project: &Project) -> Result<(), Refusal> {
        if self.applied.is_empty() && !project.is_busy::<Self>(self.card.id) {
            return Ok(());
        }
        let message = format!("firewall with ID '{}' is still in use", self.card.id);
        Err(Code::ResourceInUse.because(message))
    }
}

fn is_port_range(text: &str) -> bool {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    match text.split_once('-') {
        None => text == "any" || port(text).is_some(),
        Some((low, high)) => port(low).zip(port(high)).is_some_and(|(low, high)| low <= high),
    }
}

/// A network without host bits.
fn is_network(text: &str) -> bool {
    text.parse::<IpNet>().is_ok_and(|net| net.addr() == net.network())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(direction: &str, protocol: &str, port: Option<&str>, ip: &str) -> Rule {
        Rule {
            direction: direction.to_owned(),
            source_ips: vec![ip.to_owned()],
            destination_ips: vec![ip.to_owned()],
            protocol: protocol.to_owned(),
            port: port.map(str::to_owned),
            description: None,
        }
    }

    #[test]
    fn rules_are_checked() {
        let any = "0.0.0.0/0";
        let good = [
            rule("in", "tcp", Some("6443"), any),
            rule("in", "udp", Some("1-65535"), "::/0"),
            rule("out", "icmp", None, "198.51.100.7/32"),
            rule("in", "tcp", Some("any"), any),
        ];
        assert_eq!(Rule::check(&good), Ok(()));
        for bad in [
            rule("inward", "tcp", Some("1"), any),
            rule("in", "http", Some("1"), any),
            rule("in", "tcp", None, any),
            rule("in", "icmp", Some("1"), any),
            rule("in", "tcp", Some("9-1"), any),
            rule("in", "tcp", Some("70000"), any),
            rule("in", "tcp", Some("1"), "198.51.100.7/24"),
            rule("in", "tcp", Some("1"), "198.51.100.7"),
        ] {
            assert!(Rule::check(std::slice::from_ref(&bad)).is_err(), "{bad:?}");
        }
        assert!(Rule::check(&vec![good[0].clone(); 51]).is_err());
        let described = |length| {
            let description = Some("ä".repeat(length));
            Rule::check(&[Rule { description, ..good[0].clone() }])
        };
        assert!(described(255).is_ok() && described(256).is_err());
    }
}
