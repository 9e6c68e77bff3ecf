//! The ports that load balancers listen on, kept in step with the project.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::task::JoinSet;

use super::{check, forward};
use crate::hetzner::desk::Desk;
use crate::hetzner::project::Project;
use crate::hetzner::resources::Service;
use crate::hetzner::shelf::Resource;

/// What one port of a load balancer is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Front {
    pub(crate) balancer: i64,
    address: Ipv4Addr,
    pub(crate) service: Service,
}

/// The ports at work; dropping one stops it and cuts its connections.
#[derive(Debug, Default)]
pub(crate) struct Fronts(BTreeMap<(i64, u16), (Front, JoinSet<()>)>);

impl Front {
    pub(crate) fn listens_on(&self) -> SocketAddr {
        (self.address, self.service.listen_port).into()
    }

    /// Returns all the ports that the project's load balancers should serve.
    fn wanted(project: &Project) -> Vec<Self> {
        let serving = project.load_balancers.iter().filter(|it| it.ready && it.public);
        serving
            .flat_map(|balancer| {
                balancer.services.iter().map(|service| Self {
                    balancer: balancer.card().id,
                    address: balancer.address,
                    service: service.clone(),
                })
            })
            .collect()
    }
}

impl Fronts {
    /// Starts and stops ports until they are what the project says. Healths of
    /// a port that has changed are unknown again.
    pub(crate) fn follow(&mut self, project: &mut Project, desk: &Arc<Desk>) {
        let wanted = Front::wanted(project);
        self.0.retain(|(balancer, port), (front, _)| {
            let stays = wanted.contains(front);
            if !stays {
                project.healths.forget_port(*balancer, *port);
            }
            stays
        });
        for front in wanted {
            let key = (front.balancer, front.service.listen_port);
            self.0.entry(key).or_insert_with(|| {
                let mut tasks = JoinSet::new();
                tasks.spawn(forward::run(front.clone(), Arc::downgrade(desk)));
                tasks.spawn(check::run(front.clone(), Arc::downgrade(desk)));
                (front, tasks)
            });
        }
    }
}
