//! Machines that were not started from their disk install themselves once they
//! have their configuration, and restart.

use std::sync::Arc;

use tonic::service::Routes;

use super::{Afterwards, Machine, Stage, bring_up::LifeError};
use crate::talos::{MachineConfig, facts::release};

/// The first version whose API is there while it installs itself.
const SERVES_MEANWHILE: (u32, u32) = (1, 14);

impl Machine {
    /// Says whether it runs from its disk.
    pub(super) fn is_installed(&self) -> bool {
        self.facts.installed || self.state().on_disk
    }

    /// Writes itself to its disk and restarts from there. Since 1.14 the API
    /// answers meanwhile, and nothing may be bootstrapped; before, nobody
    /// listens.
    pub(super) async fn install(
        self: &Arc<Self>,
        config: &Arc<MachineConfig>,
        routes: &Routes,
    ) -> Result<(), LifeError> {
        self.change(|state| state.stage = Stage::Installing);
        let installer = self.write(self.settings.delays.install);
        if release(&self.version()) >= SERVES_MEANWHILE {
            tokio::select! {
                served = self.serve(config, routes) => return served,
                () = installer => {}
            }
        } else {
            installer.await;
        }
        self.change(|state| state.on_disk = true);
        self.stop("", Stage::Rebooting, None, Afterwards::Restart);
        Ok(())
    }
}
