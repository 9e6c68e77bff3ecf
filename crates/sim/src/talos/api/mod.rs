//! The methods of a node's API.

mod apply;
mod bootstrap;
mod client_config;
mod diff;
mod etcd;
mod files;
mod kubeconfig;
mod machine;
mod state;
mod storage;
mod telling;
mod trial;
mod upkeep;
mod watch;

use std::{future, pin::Pin, sync::Arc};

use futures::Stream;
use talos_proto::{
    cosi::resource::state_server::StateServer,
    machine::{
        image_service_server::ImageServiceServer, lifecycle_service_server::LifecycleServiceServer,
        machine_service_server::MachineServiceServer,
    },
    storage::storage_service_server::StorageServiceServer,
};
use tonic::{Request, Status, service::Routes};

use super::{node::Machine, server::Caller};
use crate::Answer;

/// The largest message that a node takes.
const MAX_MESSAGE: usize = 32 << 20;

/// Answers that come one after the other.
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The API of one node.
#[derive(Clone)]
struct Api {
    machine: Arc<Machine>,
}

/// Returns everything that a node answers to.
pub(super) fn routes(machine: &Arc<Machine>) -> Routes {
    let api = Api { machine: Arc::clone(machine) };
    Routes::new(MachineServiceServer::new(api.clone()).max_decoding_message_size(MAX_MESSAGE))
        .add_service(StateServer::new(api.clone()))
        .add_service(ImageServiceServer::new(api.clone()))
        .add_service(LifecycleServiceServer::new(api.clone()))
        .add_service(StorageServiceServer::new(api))
}

impl Api {
    /// Takes note of a change; the answer goes out only where it is not lost.
    async fn happened(&self, call: &str, caller: &Caller) {
        if self.machine.happened(call) == Answer::Lose {
            caller.cut.cancel();
            future::pending::<()>().await;
        }
    }

    /// Refuses what only control planes do.
    fn on_control_planes(&self, what: &str) -> Result<(), Status> {
        if self.machine.state().is_control_plane() {
            return Ok(());
        }
        Err(Status::unimplemented(format!("{what} is only available on control plane nodes")))
    }
}

/// Returns who calls.
fn caller<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller = request.extensions().get::<Caller>().cloned();
    caller.ok_or_else(|| Status::internal("the call came in past the gate"))
}

/// What calls that wait are told when the server goes away beneath them.
fn closing() -> Status {
    Status::unavailable("transport is closing")
}
