//! Ordering and changing load balancers.

use serde::Deserialize;

use super::call::{Call, Changed, IdOrName};
use super::generic::{self, check, started};
use super::servers::Attachment;
use super::targets::TargetRequest;
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::catalog::{self, LOCATIONS, LoadBalancerType, Location};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{LoadBalancer, Network, PrivateNet, Service, ServiceRequest};
use crate::hetzner::selector::Labels;
use crate::hetzner::shelf::Resource;

#[derive(Deserialize)]
struct Order {
    name: String,
    load_balancer_type: IdOrName,
    location: Option<String>,
    network_zone: Option<String>,
    algorithm: Option<Algorithm>,
    labels: Option<Labels>,
    public_interface: Option<bool>,
    network: Option<i64>,
    #[serde(default)]
    services: Vec<ServiceRequest>,
    #[serde(default)]
    targets: Vec<TargetRequest>,
}

#[derive(Deserialize)]
struct Algorithm {
    #[serde(rename = "type")]
    kind: String,
}

/// `POST /load_balancers`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let order: Order = call.read()?;
    let kind: &LoadBalancerType = catalog::order(&order.load_balancer_type.text())?;
    let location = order.location()?;
    let algorithm = order.algorithm.as_ref().map_or("round_robin", |it| it.kind.as_str());
    if !["round_robin", "least_connections"].contains(&algorithm) {
        return Err(Refusal::invalid("algorithm.type", "is unknown"));
    }
    let services = order.services()?;
    let mut private = Vec::new();
    if let Some(network) = order.network {
        let ip = Attachment::to(network).assign(project, location.network_zone)?;
        let net = PrivateNet::reserved(network, ip, 0);
        private.push(PrivateNet { attached: true, ..net });
    }
    let card = project.new_card::<LoadBalancer>(&order.name, order.labels.clone())?;
    let out = || Code::ResourceLimitExceeded.because("no public address is left");
    let mut balancer = LoadBalancer {
        card,
        kind,
        location,
        algorithm: algorithm.to_owned(),
        address: project.addresses.take().ok_or_else(out)?,
        public: order.public_interface != Some(false),
        ipv4: project.new_id(),
        ipv6: project.new_id(),
        private,
        services,
        targets: Vec::new(),
        ready: false,
    };
    let targets = order.targets.iter().try_for_each(|target| {
        let target = target.fit(&balancer, project)?;
        balancer.targets.push(target);
        Ok(())
    });
    if let Err(refusal) = targets {
        project.addresses.give_back(balancer.address);
        return Err(refusal);
    }
    let id = balancer.card.id;
    project.load_balancers.put(balancer);
    let action = project.start_one(creating(id, project));
    generic::created::<LoadBalancer>(project, id, Some(("action", action)))
}

/// `POST /load_balancers/{id}/actions/attach_to_network`
pub(super) fn attach(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let order: Attachment = call.read()?;
    let id = call.id();
    check::<LoadBalancer>(project, id)?;
    let balancer = project.load_balancers.get(id)?;
    if !balancer.private.is_empty() {
        return Err(Code::LoadBalancerAlreadyAttached.because("it is already in a network"));
    }
    let zone = balancer.location.network_zone;
    let ip = order.assign(project, zone)?;
    let net = PrivateNet::reserved(order.network, ip, id);
    project.load_balancers.get_mut(id)?.private.push(net);
    let resources = [Reference::to::<LoadBalancer>(id), Reference::to::<Network>(order.network)];
    let step = Step::new("attach_to_network", &resources, project.delays.attach_network)
        .then(change(id, |balancer| balancer.private.iter_mut().for_each(|it| it.attached = true)))
        .or_else(change(id, |balancer| balancer.private.clear()));
    Ok(started::<LoadBalancer>(project, id, step))
}

/// `POST /load_balancers/{id}/actions/detach_from_network`
pub(super) fn detach(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Detachment {
        network: i64,
    }
    let Detachment { network } = call.read()?;
    check::<LoadBalancer>(project, call.id())?;
    if project.load_balancers.get(call.id())?.network() != Some(network) {
        let message = "it is not in that network";
        return Err(Code::LoadBalancerNotAttachedToNetwork.because(message));
    }
    Ok(changing(project, call.id(), "detach_from_network", |it| it.private.clear()))
}

/// `POST /load_balancers/{id}/actions/add_service`
pub(super) fn add_service(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let service = call.read::<ServiceRequest>()?.make()?;
    check::<LoadBalancer>(project, call.id())?;
    let balancer = project.load_balancers.get(call.id())?;
    check_services(balancer.kind, &balancer.services, &service)?;
    Ok(changing(project, call.id(), "add_service", |it| it.services.push(service)))
}

/// `POST /load_balancers/{id}/actions/update_service`
pub(super) fn update_service(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let request: ServiceRequest = call.read()?;
    check::<LoadBalancer>(project, call.id())?;
    let old = service_at(project, call.id(), request.listen_port)?;
    let new = request.change(old)?;
    Ok(changing(project, call.id(), "update_service", move |balancer| {
        let same = |it: &&mut Service| it.listen_port == new.listen_port;
        if let Some(service) = balancer.services.iter_mut().find(same) {
            *service = new;
        }
    }))
}

/// `POST /load_balancers/{id}/actions/delete_service`
pub(super) fn delete_service(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Deletion {
        listen_port: u16,
    }
    let Deletion { listen_port } = call.read()?;
    check::<LoadBalancer>(project, call.id())?;
    service_at(project, call.id(), Some(listen_port))?;
    Ok(changing(project, call.id(), "delete_service", move |balancer| {
        balancer.services.retain(|it| it.listen_port != listen_port);
    }))
}

/// `DELETE /load_balancers/{id}`: an action since October 2026.
pub(super) fn delete(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let id = call.id();
    project.load_balancers.deletable(id)?;
    check::<LoadBalancer>(project, id)?;
    let balancer = Reference::to::<LoadBalancer>(id);
    let takes = project.delays.change_load_balancer;
    let step = Step::new("delete_load_balancer", &[balancer], takes).then(move |project| {
        if let Some(balancer) = project.load_balancers.remove(id) {
            balancer.removed(project);
        }
    });
    Ok(started::<LoadBalancer>(project, id, step))
}

/// Changes a load balancer when an action has ended.
pub(super) fn changing(
    project: &mut Project,
    id: i64,
    command: &'static str,
    deed: impl FnOnce(&mut LoadBalancer) + Send + 'static,
) -> Changed {
    let takes = project.delays.change_load_balancer;
    let step = Step::new(command, &[Reference::to::<LoadBalancer>(id)], takes);
    started::<LoadBalancer>(project, id, step.then(change(id, deed)))
}

fn change(
    id: i64,
    deed: impl FnOnce(&mut LoadBalancer) + Send + 'static,
) -> impl FnOnce(&mut Project) + Send + 'static {
    move |project| {
        if let Some(balancer) = project.load_balancers.find_mut(id) {
            deed(balancer);
        }
    }
}

fn creating(id: i64, project: &Project) -> Step {
    let balancer = Reference::to::<LoadBalancer>(id);
    Step::new("create_load_balancer", &[balancer], project.delays.create_load_balancer)
        .then(change(id, |balancer| balancer.ready = true))
}

fn service_at(project: &Project, id: i64, port: Option<u16>) -> Result<&Service, Refusal> {
    let services = &project.load_balancers.get(id)?.services;
    let found = services.iter().find(|it| Some(it.listen_port) == port);
    found.ok_or_else(|| Refusal::not_found("service", port.unwrap_or_default()))
}

fn check_services(
    kind: &LoadBalancerType,
    services: &[Service],
    new: &Service,
) -> Result<(), Refusal> {
    if services.iter().any(|it| it.listen_port == new.listen_port) {
        return Err(Code::SourcePortAlreadyUsed.because("another service has that port"));
    }
    if services.len() >= kind.max_services {
        return Err(Code::ResourceLimitExceeded.because("too many services for the type"));
    }
    Ok(())
}

impl Order {
    /// Returns where it is to be: a place, or any place of a zone.
    fn location(&self) -> Result<&'static Location, Refusal> {
        match (&self.location, &self.network_zone) {
            (Some(location), None) => catalog::order(location),
            (None, Some(zone)) => LOCATIONS
                .iter()
                .find(|it| it.network_zone == zone)
                .ok_or_else(|| Refusal::invalid("network_zone", "does not exist")),
            _ => Err(Refusal::invalid("location", "give either a location or a network zone")),
        }
    }

    fn services(&self) -> Result<Vec<Service>, Refusal> {
        let kind: &LoadBalancerType = catalog::order(&self.load_balancer_type.text())?;
        let mut services = Vec::new();
        for request in &self.services {
            let service = request.make()?;
            check_services(kind, &services, &service)?;
            services.push(service);
        }
        Ok(services)
    }
}
