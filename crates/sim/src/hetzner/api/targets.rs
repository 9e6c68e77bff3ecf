//! The targets of load balancers.

use serde::Deserialize;

use super::call::{Call, Changed};
use super::generic::{check, missing};
use super::load_balancers::changing;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{LoadBalancer, Server, Target, To};
use crate::hetzner::selector::Selector;

/// A target as a request describes it.
#[derive(Deserialize)]
pub(super) struct TargetRequest {
    #[serde(rename = "type")]
    kind: String,
    server: Option<ServerReference>,
    label_selector: Option<SelectorText>,
    use_private_ip: Option<bool>,
}

#[derive(Deserialize)]
struct ServerReference {
    id: i64,
}

#[derive(Deserialize)]
struct SelectorText {
    selector: String,
}

/// `POST /load_balancers/{id}/actions/add_target`
pub(super) fn add(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let request: TargetRequest = call.read()?;
    check::<LoadBalancer>(project, call.id())?;
    let target = request.fit(project.load_balancers.get(call.id())?, project)?;
    Ok(changing(project, call.id(), "add_target", |balancer| balancer.targets.push(target)))
}

/// `POST /load_balancers/{id}/actions/remove_target`
pub(super) fn remove(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let to = call.read::<TargetRequest>()?.to()?;
    check::<LoadBalancer>(project, call.id())?;
    let balancer = project.load_balancers.get(call.id())?;
    if !balancer.targets.iter().any(|it| it.to == to) {
        return Err(Code::NotFound.because("the load balancer has no such target"));
    }
    Ok(changing(project, call.id(), "remove_target", move |balancer| {
        balancer.targets.retain(|it| it.to != to);
    }))
}

impl TargetRequest {
    fn to(&self) -> Result<To, Refusal> {
        match (self.kind.as_str(), &self.server, &self.label_selector) {
            ("server", Some(ServerReference { id }), _) => Ok(To::Server(*id)),
            ("label_selector", _, Some(SelectorText { selector })) => {
                Ok(To::Selector(Selector::of_field("label_selector.selector", selector)?))
            }
            ("ip", ..) => Err(Refusal::not_implemented("a target of type ip")),
            _ => Err(Refusal::invalid("type", "must be server or label_selector, with its object")),
        }
    }

    /// Returns the target, if the load balancer can have it.
    pub(super) fn fit(
        &self,
        balancer: &LoadBalancer,
        project: &Project,
    ) -> Result<Target, Refusal> {
        let target = Target { to: self.to()?, use_private_ip: self.use_private_ip == Some(true) };
        if balancer.targets.iter().any(|it| it.to == target.to) {
            return Err(Code::TargetAlreadyDefined.because("target is already defined"));
        }
        if balancer.targets.len() >= balancer.kind.max_targets {
            return Err(Code::ResourceLimitExceeded.because("too many targets for the type"));
        }
        let network = balancer.network();
        if target.use_private_ip && network.is_none() {
            let message = "the load balancer is not attached to a network";
            return Err(Code::LoadBalancerNotAttachedToNetwork.because(message));
        }
        if let To::Server(id) = target.to {
            let server = missing::<Server>(project, id)?;
            if target.use_private_ip && !network.is_some_and(|network| server.is_in(network)) {
                let message = "server is not attached to the load balancer's network";
                return Err(Code::ServerNotAttachedToNetwork.because(message));
            }
            if !target.use_private_ip && server.ipv4.is_none() {
                return Err(Code::MissingIpv4.because("server has no public IPv4 address"));
            }
        }
        Ok(target)
    }
}
