//! What a machine says of itself, to whoever has credentials for Talos.

use talos::client::{Client, ClientError, Diagnostic, Health, MachineStatus, Node, Service};
use talos::credentials::Identity;

/// How a machine is, by its own word.
pub(crate) struct MachineSight {
    pub(crate) status: MachineStatus,
    services: Vec<Service>,
}

impl MachineSight {
    /// Asks a machine.
    pub(crate) async fn of(at: Node, identity: &Identity) -> Result<Self, ClientError> {
        Self::by(&at.authenticated(identity).await?).await
    }

    /// Asks a machine that listens already.
    pub(crate) async fn by(client: &Client) -> Result<Self, ClientError> {
        Ok(Self { status: client.machine_status().await?, services: client.service_list().await? })
    }

    /// Returns its kubelet, where that is not well.
    pub(crate) fn unwell_kubelet(&self) -> Option<&Service> {
        self.services.iter().find(|it| it.id == "kubelet" && !it.is_well())
    }

    /// Returns what it lacks.
    pub(crate) fn unmet(&self) -> Vec<String> {
        self.status.unmet.iter().map(|it| format!("{}: {}", it.name, it.reason)).collect()
    }

    /// Returns how far it has come.
    pub(crate) fn stage(&self) -> String {
        format!("{:?}", self.status.stage).to_lowercase()
    }
}

/// Returns what a machine finds wrong with itself. Talos goes on all the same,
/// and so does whoever cannot ask it.
pub(crate) async fn diagnosed(at: Node, identity: &Identity) -> Vec<String> {
    let told = async { at.authenticated(identity).await?.diagnostics().await };
    let line = |it: Diagnostic| match it.details.as_slice() {
        [] => format!("it finds: {}", it.message),
        details => format!("it finds: {} ({})", it.message, details.join("; ")),
    };
    told.await.unwrap_or_default().into_iter().map(line).collect()
}

/// Returns what a service that is not well has to say.
pub(crate) fn complaint(service: &Service) -> String {
    match &service.health {
        Health::Unhealthy(message) if !message.is_empty() => message.clone(),
        _ if service.last_event.is_empty() => format!("its service is {}", service.state),
        _ => format!("its service is {}: {}", service.state, service.last_event),
    }
}
