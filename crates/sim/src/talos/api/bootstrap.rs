//! Bootstrap: meant to be sent once.

use talos_proto::machine::BootstrapRequest;
use tonic::Status;

use super::Api;
use crate::talos::{
    Dialect,
    node::{EtcdPhase, State},
    server::Caller,
    services::ServiceState,
};

const NOT_EMPTY: &str = "etcd data directory is not empty";
/// What is left to say where an install began after the first look for one,
/// which would have found that the bootstrap is not available yet.
const INSTALLING: &str = "bootstrap is not allowed during unattended install (phase: pending)";

impl Api {
    /// Checks in Talos's order, then makes etcd begin anew.
    pub(super) async fn begin_etcd(
        &self,
        request: &BootstrapRequest,
        caller: &Caller,
    ) -> Result<(), Status> {
        self.may_bootstrap()?;
        if request.recover_etcd {
            return Err(Status::unimplemented("recovery from a snapshot is not simulated"));
        }
        if self.machine.knobs.borrow().clock_out_of_sync {
            self.machine.pass(self.machine.settings.delays.time_sync_patience).await;
            return Err(Status::failed_precondition("time is not in sync yet"));
        }
        let is_new = !self.machine.state().etcd.has_data();
        if is_new && self.machine.knobs.borrow().installs_under_bootstrap {
            return Err(Status::unknown(INSTALLING));
        }
        let outcome = self.machine.change(request_bootstrap);
        if matches!(&outcome, Err(status) if status.code() == tonic::Code::AlreadyExists) {
            return outcome;
        }
        self.happened("MachineService/Bootstrap", caller).await;
        outcome
    }

    fn may_bootstrap(&self) -> Result<(), Status> {
        let state = self.machine.state();
        if !state.bootstrap_allowed {
            return Err(Status::failed_precondition("bootstrap is not available yet"));
        }
        if !state.is_control_plane() {
            return Err(match self.machine.dialect() {
                Dialect::Unified => {
                    Status::unimplemented("bootstrap is only available on control plane nodes")
                }
                Dialect::Separate => Status::failed_precondition(
                    "bootstrap can only be performed on a control plane node",
                ),
            });
        }
        let config = state.config.as_ref();
        if config.is_none_or(|config| config.cluster.etcd_ca.is_none()) {
            let message = "etcd is not configured, bootstrap is not possible";
            return Err(Status::invalid_argument(message));
        }
        Ok(())
    }
}

/// Does what a bootstrap does to etcd, depending on how far it is.
///
/// While the image is pulled a repetition starts over and says OK. One that
/// comes as the data directory appears stops etcd, finds the directory, and
/// leaves etcd stopped: no call can start it again.
fn request_bootstrap(state: &mut State) -> Result<(), Status> {
    match state.etcd {
        EtcdPhase::Empty => state.etcd = EtcdPhase::Bootstrapping(1),
        EtcdPhase::Bootstrapping(times) => {
            state.etcd = EtcdPhase::Bootstrapping(times + 1);
            state.services.set("etcd", ServiceState::Finished, "Bootstrap requested");
            state.services.renew("etcd");
            state.services.set("etcd", ServiceState::Preparing, "Running pre state");
        }
        EtcdPhase::Initialising => {
            state.etcd = EtcdPhase::Wedged;
            state.services.set("etcd", ServiceState::Finished, "Bootstrap requested");
            return Err(Status::unknown(NOT_EMPTY));
        }
        EtcdPhase::Wedged | EtcdPhase::Member(_) => {
            return Err(Status::already_exists(NOT_EMPTY));
        }
    }
    Ok(())
}
