//! Firewalls as they are wanted.
//!
//! A firewall is put on servers one by one: in the order of each server, so that
//! it is there before the machine can boot. It has no label selector, because
//! Hetzner refuses changes for a server that one firewall is on in both ways.

use events::{Call, Made};
use serde_json::{Value, json};

use super::answer::{Started, made};
use super::client::Pass;
use super::creation::Creation;
use super::firewall::{AppliedTo, Firewall, Rule, ServerRef, normal};
use super::wish::{idempotent, named};
use super::{Hetzner, HetznerError, Ours, Server, Wish};
use crate::Labels;

/// The wish for a firewall.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateFirewall {
    /// Its name.
    pub name: String,
    /// What it lets through.
    pub rules: Vec<Rule>,
    /// Its labels; the cluster's id is added.
    pub labels: Labels,
}

/// The wish that a firewall has just these rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetRules {
    /// The firewall.
    pub firewall: Ours<Firewall>,
    /// What it lets through.
    pub rules: Vec<Rule>,
}

/// The wish that a server has a firewall which somebody took off it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyFirewall {
    /// The firewall.
    pub firewall: Ours<Firewall>,
    /// The server.
    pub server: Ours<Server>,
}

// === impl CreateFirewall ===

impl CreateFirewall {
    /// Returns what is different about a firewall that is there.
    pub fn differences(&self, there: &Firewall) -> Vec<String> {
        let (is, wanted) = (normal(&there.rules), normal(&self.rules));
        let closed = wanted.iter().filter(|rule| !is.contains(rule));
        let open = is.iter().filter(|rule| !wanted.contains(rule));
        closed
            .map(|rule| format!("it does not let {rule}"))
            .chain(open.map(|rule| format!("it lets {rule}")))
            .collect()
    }
}

impl Creation for CreateFirewall {
    type Resource = Firewall;

    fn name(&self) -> &str {
        &self.name
    }

    fn labels(&self) -> &Labels {
        &self.labels
    }

    fn body(&self, labels: &Labels) -> Value {
        json!({ "name": self.name, "labels": labels, "rules": self.rules })
    }
}

// === impl SetRules ===

impl Wish for SetRules {
    fn call(&self) -> Call {
        let body = json!({ "rules": self.rules });
        idempotent("set rules of firewall", &self.firewall.name, &body)
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let there = hetzner.get(self.firewall.id).await?;
        Ok(there.filter(|there| there.lets_through(&self.rules)).map(|there| made(&there)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/firewalls/{}/actions/set_rules", self.firewall.id);
        let started: Started = hetzner.post(pass, &path, &json!({ "rules": self.rules })).await?;
        Ok(started.on(&*self.firewall))
    }
}

// === impl ApplyFirewall ===

impl ApplyFirewall {
    fn body(&self) -> Value {
        let to = AppliedTo::Server { server: ServerRef { id: self.server.id } };
        json!({ "apply_to": [to] })
    }
}

impl Wish for ApplyFirewall {
    fn call(&self) -> Call {
        let (firewall, server) = (&self.firewall.name, &self.server);
        let name = format!("{firewall} to server {} ({})", server.name, server.id);
        named("apply firewall", name, &self.body())
    }

    async fn look(&self, hetzner: &Hetzner) -> Result<Option<Made>, HetznerError> {
        let has_it = |server: &Server| server.has_firewall(self.firewall.id);
        Ok(hetzner.get(self.server.id).await?.filter(has_it).map(|server| made(&server)))
    }

    async fn send(&self, hetzner: &Hetzner, pass: Pass) -> Result<Made, HetznerError> {
        let path = format!("/firewalls/{}/actions/apply_to_resources", self.firewall.id);
        let started: Started = hetzner.post(pass, &path, &self.body()).await?;
        Ok(started.on(&*self.server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hetzner::{Direction, Id};

    fn rule(port: &str) -> Rule {
        Rule {
            direction: Direction::In,
            protocol: "tcp".to_owned(),
            port: Some(port.to_owned()),
            source_ips: vec!["192.0.2.0/24".parse().unwrap()],
            destination_ips: Vec::new(),
            description: None,
        }
    }

    #[test]
    fn differences_name_what_is_open_and_what_is_closed() {
        let (name, labels) = ("demo".to_owned(), Labels::new());
        let wish = CreateFirewall {
            name: name.clone(),
            rules: vec![rule("6443"), rule("50000")],
            labels: labels.clone(),
        };
        let rules = vec![rule("22"), rule("6443")];
        let there = Firewall { id: Id::new(1), name, rules, applied_to: Vec::new(), labels };
        assert_eq!(
            wish.differences(&there),
            [
                "it does not let tcp 50000 in from 192.0.2.0/24",
                "it lets tcp 22 in from 192.0.2.0/24"
            ]
        );
    }
}
