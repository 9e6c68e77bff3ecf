//! Ordering and applying firewalls.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, Changed, Reply};
use super::generic::{self, check, subject};
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{Applied, Firewall, Rule, Server};
use crate::hetzner::selector::{Labels, Selector};

#[derive(Deserialize)]
struct Resource {
    #[serde(rename = "type")]
    kind: String,
    server: Option<ServerReference>,
    label_selector: Option<SelectorText>,
}

#[derive(Deserialize)]
struct ServerReference {
    id: i64,
}

#[derive(Deserialize)]
struct SelectorText {
    selector: String,
}

/// `POST /firewalls`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        name: String,
        labels: Option<Labels>,
        #[serde(default)]
        rules: Vec<Rule>,
        #[serde(default)]
        apply_to: Vec<Resource>,
    }
    let Order { name, labels, rules, apply_to } = call.read()?;
    Rule::check(&rules)?;
    let applied = meant(project, &apply_to)?;
    let card = project.new_card::<Firewall>(&name, labels)?;
    let id = card.id;
    let servers = servers_of(project, &applied);
    project.firewalls.put(Firewall { card, rules, applied });
    let mut actions = vec![set_rules_action(project, id)];
    actions.extend(on_servers(project, id, "apply_firewall", &servers));
    generic::created::<Firewall>(project, id, Some(("actions", actions.into())))
}

/// `POST /firewalls/{id}/actions/set_rules`
pub(super) fn set_rules(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        rules: Vec<Rule>,
    }
    let Order { rules } = call.read()?;
    Rule::check(&rules)?;
    check::<Firewall>(project, call.id())?;
    let applied = project.firewalls.get(call.id())?.applied.clone();
    let servers = servers_of(project, &applied);
    project.firewalls.get_mut(call.id())?.rules = rules;
    let mut actions = vec![set_rules_action(project, call.id())];
    actions.extend(on_servers(project, call.id(), "apply_firewall", &servers));
    Ok(answered(project, call.id(), &actions))
}

/// `POST /firewalls/{id}/actions/apply_to_resources`
pub(super) fn apply(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        apply_to: Vec<Resource>,
    }
    let Order { apply_to } = call.read()?;
    check::<Firewall>(project, call.id())?;
    let new = meant(project, &apply_to)?;
    let applied = &project.firewalls.get(call.id())?.applied;
    if new.iter().any(|it| applied.contains(it)) {
        return Err(Code::FirewallAlreadyApplied.because("firewall was already applied"));
    }
    let servers = servers_of(project, &new);
    project.firewalls.get_mut(call.id())?.applied.extend(new);
    let actions = on_servers(project, call.id(), "apply_firewall", &servers);
    Ok(answered(project, call.id(), &actions))
}

/// `POST /firewalls/{id}/actions/remove_from_resources`
pub(super) fn remove(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        remove_from: Vec<Resource>,
    }
    let Order { remove_from } = call.read()?;
    check::<Firewall>(project, call.id())?;
    let old = meant(project, &remove_from)?;
    let firewall = project.firewalls.get(call.id())?;
    let by_label =
        |it: &&Applied| matches!(it, Applied::Server(id) if firewall.selects(*id, project));
    if let Some(Applied::Server(id)) = old.iter().find(by_label) {
        let message = format!("firewall is applied to server {id} by a label selector");
        return Err(Code::FirewallManagedByLabelSelector.because(message));
    }
    if !old.iter().all(|it| firewall.applied.contains(it)) {
        let message = "firewall is not applied to the resource";
        return Err(Code::FirewallResourceNotFound.because(message));
    }
    let servers = servers_of(project, &old);
    project.firewalls.get_mut(call.id())?.applied.retain(|it| !old.contains(it));
    let actions = on_servers(project, call.id(), "remove_firewall", &servers);
    Ok(answered(project, call.id(), &actions))
}

fn set_rules_action(project: &mut Project, id: i64) -> Value {
    let firewall = Reference::to::<Firewall>(id);
    project.start_one(Step::new("set_firewall_rules", &[firewall], project.delays.note))
}

/// Starts one action per server. The server comes second, since it is not
/// locked meanwhile.
fn on_servers(
    project: &mut Project,
    id: i64,
    command: &'static str,
    servers: &[i64],
) -> Vec<Value> {
    let takes = project.delays.apply_firewall;
    let step = |server: &i64| {
        let resources = [Reference::to::<Firewall>(id), Reference::to::<Server>(*server)];
        Step::new(command, &resources, takes)
    };
    servers.iter().map(|server| project.start_one(step(server))).collect()
}

fn servers_of(project: &Project, applied: &[Applied]) -> Vec<i64> {
    let mut servers: Vec<i64> = applied.iter().flat_map(|it| it.servers(project)).collect();
    servers.sort_unstable();
    servers.dedup();
    servers
}

fn answered(project: &Project, id: i64, actions: &[Value]) -> Changed {
    Reply::created(json!({ "actions": actions })).about(subject::<Firewall>(project, id))
}

/// Returns whom a request means, if all of them exist.
fn meant(project: &Project, resources: &[Resource]) -> Result<Vec<Applied>, Refusal> {
    resources.iter().map(|it| it.applied(project)).collect()
}

impl Resource {
    fn applied(&self, project: &Project) -> Result<Applied, Refusal> {
        match (self.kind.as_str(), &self.server, &self.label_selector) {
            ("server", Some(ServerReference { id }), _) => {
                let server = generic::missing::<Server>(project, *id)?;
                if server.ipv4.is_none() && server.ipv6.is_none() {
                    let message = format!("server {id} has no public interface");
                    return Err(Code::PrivateNetOnlyServer.because(message));
                }
                Ok(Applied::Server(*id))
            }
            ("label_selector", _, Some(SelectorText { selector })) => {
                Ok(Applied::Selector(Selector::of_field("label_selector.selector", selector)?))
            }
            _ => Err(Refusal::invalid("type", "must be server or label_selector, with its object")),
        }
    }
}
