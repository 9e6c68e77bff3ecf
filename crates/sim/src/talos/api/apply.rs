//! Giving a node its configuration.

use std::{sync::Arc, time::Duration};

use talos_proto::machine::{
    ApplyConfiguration, ApplyConfigurationRequest, apply_configuration_request::Mode,
};
use tokio::sync::OwnedMutexGuard;
use tonic::Status;

use super::{Api, closing, diff::diff, trial};
use crate::talos::{
    ConfigError, Dialect, MachineConfig, Stage, facts::release, machine_config::Received,
    node::Afterwards, server::Caller,
};

/// All that a maintenance server of its own says to a dry run.
const NO_CONFIG_YET: &str = "Node is running in maintenance mode and does not have a config yet.";

/// What is done with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// It comes into force at once.
    Now,
    /// It comes into force with the next restart.
    Staged,
    /// It comes into force with a restart, at once.
    Restart,
    /// It comes into force at once, and goes again after a while or with a
    /// restart, unless another one comes.
    Tried(Duration),
}

/// What is to be done about a call that was found good.
enum Deed {
    /// Nothing: it was a dry run.
    None,
    /// To wait for the rest of the configuration, in maintenance mode.
    Wait,
    /// To take it.
    Take(Arc<MachineConfig>, Course),
}

impl Api {
    /// Takes a configuration, or says why not. One that comes while another is
    /// being taken is not looked at.
    pub(super) async fn apply(
        &self,
        request: &ApplyConfigurationRequest,
        caller: &Caller,
    ) -> Result<ApplyConfiguration, Status> {
        let alone = Arc::clone(&self.machine.applying).try_lock_owned().map_err(|_| {
            Status::failed_precondition("another apply configuration is already in progress")
        })?;
        let (message, deed) = self.consider(request, caller)?;
        match deed {
            Deed::None => return Ok(message),
            Deed::Wait => drop(alone),
            Deed::Take(config, course) => self.carry_out(config, course, alone).await?,
        }
        self.happened("MachineService/ApplyConfiguration", caller).await;
        Ok(message)
    }

    /// Writes the configuration down and goes by it, whether or not anybody
    /// still waits for the answer. A node that ends meanwhile has not got it.
    async fn carry_out(
        &self,
        config: Arc<MachineConfig>,
        course: Course,
        alone: OwnedMutexGuard<()>,
    ) -> Result<(), Status> {
        let (api, life) = (self.clone(), self.machine.present_life());
        let carried_out = tokio::spawn(async move {
            let written = api.machine.write(api.machine.settings.delays.persist);
            let written = life.run_until_cancelled(written).await;
            if written.is_some() {
                api.take(config, course);
            }
            drop(alone);
            written
        });
        carried_out.await.ok().flatten().ok_or_else(closing)
    }

    /// Returns the answer, and what is to be done.
    fn consider(
        &self,
        request: &ApplyConfigurationRequest,
        caller: &Caller,
    ) -> Result<(ApplyConfiguration, Deed), Status> {
        let (before, stage) = (self.machine.state().config.clone(), self.machine.state().stage);
        if stage == Stage::Rebooting {
            let busy = "configuration is already applied and node is rebooting";
            return Err(Status::failed_precondition(busy));
        }
        if before.is_some() && !caller.roles.administer() {
            return Err(Status::permission_denied("not authorized"));
        }
        let release = release(&self.machine.version());
        let old_maintenance = before.is_none() && self.machine.dialect() == Dialect::Separate;
        let received = MachineConfig::parse_for(&request.data, release);
        let received = received.map_err(|error| {
            if old_maintenance { refused_of_old(&error) } else { refused(&error) }
        })?;
        if let Some(why) = self.machine.knobs.borrow().refuses_config.clone() {
            return Err(Status::invalid_argument(why));
        }
        let course = self.course(request, before.is_some())?;
        let mut message = if old_maintenance {
            // A maintenance server of its own says nothing of what it does.
            ApplyConfiguration::default()
        } else {
            course.message()
        };
        if request.dry_run {
            let summary = if old_maintenance {
                NO_CONFIG_YET.to_owned()
            } else {
                skipped(&message, before.as_deref(), &request.data)
            };
            message.mode_details = format!("Dry run summary:\n{summary}");
            return Ok((message, Deed::None));
        }
        if let Course::Tried(patience) = course {
            message.mode_details += &trial::told(patience);
        }
        match received {
            Received::Complete(config) => Ok((message, Deed::Take(Arc::new(*config), course))),
            Received::Partial if before.is_some() => Err(Status::invalid_argument(
                "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?",
            )),
            Received::Partial => Ok((message, Deed::Wait)),
        }
    }

    fn take(&self, config: Arc<MachineConfig>, course: Course) {
        if self.machine.knobs.borrow().stuck_in_maintenance {
            return;
        }
        match course {
            Course::Now => self.machine.change(|state| {
                state.config = Some(config);
                state.staged = None;
            }),
            Course::Staged => self.machine.change(|state| state.staged = Some(config)),
            Course::Restart => {
                self.machine.change(|state| state.staged = Some(config));
                self.machine.stop(&self.actor(), Stage::Rebooting, None, Afterwards::Restart);
            }
            Course::Tried(patience) => self.try_out(config, patience),
        }
    }

    /// Returns what a mode means for this node.
    fn course(
        &self,
        request: &ApplyConfigurationRequest,
        configured: bool,
    ) -> Result<Course, Status> {
        let mode = request.mode;
        let mode = Mode::try_from(mode).map_err(|_| {
            let message = format!("incorrect mode '{mode}' specified for the apply config call");
            Status::invalid_argument(message)
        })?;
        match (self.machine.dialect(), mode) {
            (Dialect::Separate, Mode::NoReboot | Mode::Staged) if !configured => {
                let name = mode.as_str_name().to_lowercase().replace('_', "-");
                let message = format!(
                    "apply configuration --mode='{name}' is not supported in maintenance mode"
                );
                Err(Status::unimplemented(message))
            }
            (_, Mode::Reboot) if configured && release(&self.machine.version()) < (1, 14) => {
                Ok(Course::Restart)
            }
            (_, Mode::Reboot) if configured => Err(Status::unimplemented(
                "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead",
            )),
            // What a node goes back to that had nothing before, nobody has measured.
            (_, Mode::Try) if !configured => {
                Err(Status::unimplemented("the TRY mode is not simulated in maintenance mode"))
            }
            (_, Mode::Try) => Ok(Course::Tried(trial::patience(request)?)),
            (_, Mode::Staged) => Ok(Course::Staged),
            (_, Mode::Auto | Mode::NoReboot | Mode::Reboot) => Ok(Course::Now),
        }
    }
}

/// Says what would have been done, and what would change by it.
fn skipped(done: &ApplyConfiguration, before: Option<&MachineConfig>, data: &[u8]) -> String {
    let old = before.map_or("", |config| config.text.as_str());
    let change = diff(old, &String::from_utf8_lossy(data));
    format!("{} (skipped in dry-run).\n{change}", done.mode_details)
}

fn refused(error: &ConfigError) -> Status {
    Status::invalid_argument(error.to_string())
}

/// A maintenance server of its own tells what it cannot read as an error of no
/// kind, and only what it has read and finds wrong as a bad argument.
fn refused_of_old(error: &ConfigError) -> Status {
    match error {
        ConfigError::Invalid(_) => {
            Status::invalid_argument(format!("configuration validation failed: {error}"))
        }
        _ => Status::unknown(format!("failed to parse config: {error}")),
    }
}

impl Course {
    fn message(self) -> ApplyConfiguration {
        let (mode, details) = match self {
            Self::Now => (Mode::NoReboot, "Applied configuration without a reboot"),
            Self::Staged => {
                (Mode::Staged, "Staged configuration to be applied after the next reboot")
            }
            Self::Restart => (Mode::Reboot, "Applied configuration with a reboot"),
            Self::Tried(_) => (Mode::Try, "Applied configuration without a reboot"),
        };
        ApplyConfiguration {
            mode: mode.into(),
            mode_details: details.to_owned(),
            ..ApplyConfiguration::default()
        }
    }
}
