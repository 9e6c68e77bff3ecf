//! What each gate of `verify` looks at, by its name.

use std::sync::{Mutex, OnceLock, PoisonError};

use engine::{ActError, AfterFailure, Eyes, Hands, Skip, Work, codes};
use events::{
    Cause, CheckName, Class, Clock, Code, Digest, Failure, Heals, NextStep, Unit, Verdict,
};
use objects::{Access, ApiError, Cluster, Kind, Object, Scope};
use tokio::sync::OnceCell;

use super::{
    Acquaintance, ControlPlanes, Selection, api, cni, dns, etcd, machines, nodes, table, workloads,
};
use crate::lease::{Lease, Leases, Now};
use crate::{Invocation, healing, kube};

/// The looking behind the gates of `verify`.
#[derive(Debug)]
pub struct Verify {
    access: Access,
    /// A client belongs to the runtime that made it, so that the run makes its own.
    cluster: OnceCell<Cluster>,
    met: Acquaintance,
    selection: Selection,
    control_planes: Option<ControlPlanes>,
    /// Who we are, as the API says where it refuses us something.
    user: OnceLock<String>,
    leases: Mutex<Leases>,
    clock: Clock,
    invocation: Invocation,
}

/// The namespace of what a cluster itself consists of.
pub(super) const SYSTEM: &str = "kube-system";

impl Verify {
    /// Looks at a cluster that was met.
    pub fn new(access: Access, met: Acquaintance, selection: Selection, clock: Clock) -> Self {
        let (cluster, leases, user) = (OnceCell::new(), Mutex::default(), OnceLock::new());
        let (control_planes, invocation) = (None, Invocation::default());
        Self { access, cluster, met, selection, control_planes, user, leases, clock, invocation }
    }

    /// Says how the command was called, so that printed commands mean the same cluster.
    #[must_use]
    pub fn called_as(mut self, invocation: Invocation) -> Self {
        self.invocation = invocation;
        self
    }

    /// Asks the control planes themselves, too.
    #[must_use]
    pub fn and(mut self, control_planes: Option<ControlPlanes>) -> Self {
        self.control_planes = control_planes;
        self
    }

    /// Returns how the command was called, for commands that are printed.
    pub fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    pub(super) fn control_planes(&self) -> Option<&ControlPlanes> {
        self.control_planes.as_ref()
    }

    /// Returns the cluster's API.
    pub(super) async fn cluster(&self) -> Result<&Cluster, Failure> {
        let connected = self.cluster.get_or_try_init(|| self.access.connect()).await;
        connected.map_err(|error| Failure::of(Class::Permanent, &error))
    }

    /// Returns the version of the API.
    pub(super) fn version(&self) -> &str {
        &self.met.version
    }

    pub(super) fn now(&self) -> jiff::Timestamp {
        self.clock.now()
    }

    /// Says what speaks against a node with such a lease, or with none.
    pub(super) fn stale_lease(&self, node: &str, lease: Option<Lease>) -> Option<String> {
        let Some(lease) = lease else { return Some("it has no lease".to_owned()) };
        let mut leases = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        leases.stale(node, lease, Now::by(self.clock))
    }

    /// Lists all objects of a kind.
    pub(super) async fn all(&self, api_version: &str, kind: &str) -> Result<Vec<Object>, Failure> {
        self.listed(&Scope::all(kube::kind(api_version, kind))).await
    }

    /// Lists the objects of a kind that the cluster itself consists of.
    pub(super) async fn system(&self, kind: Kind) -> Result<Vec<Object>, Failure> {
        self.listed(&Scope::all(kind).within(SYSTEM)).await
    }

    pub(super) async fn listed(&self, scope: &Scope) -> Result<Vec<Object>, Failure> {
        let listed = self.cluster().await?.list(scope).await;
        Ok(listed.map_err(|error| self.unread(&error))?.objects)
    }

    /// Returns what keeps a gate from reading, and remembers who lacks the right.
    pub(super) fn unread(&self, error: &ApiError) -> Failure {
        if let Some(right) = error.trouble().missing_right() {
            let _ = self.user.set(right.user);
        }
        error.failure()
    }

    /// Returns the command that grants what is missing, for an administrator.
    fn grant(&self) -> NextStep {
        let bound = self.user.get().map(|user| format!(" --bind-user {user}")).unwrap_or_default();
        NextStep {
            command: format!("seaworthy verify --print-rbac{bound} | kubectl apply -f -"),
            tells: "grants the rights that verify needs; run it as an administrator".to_owned(),
        }
    }
}

impl Work for Verify {
    async fn act(&self, _: &Unit, _: &Hands) -> Result<(), ActError> {
        Ok(())
    }

    async fn look(&self, unit: &Unit, check: &CheckName, _: &Eyes) -> Verdict {
        let mut verdict = match unit.stage.as_str() {
            "api" => api::look(self).await,
            "etcd" if check.as_str() == table::ETCD_MEMBERS => etcd::members(self).await,
            "etcd" => etcd::look(self).await,
            table::MACHINES => machines::look(self).await,
            "nodes" => nodes::look(self).await,
            "cni" => cni::look(self).await,
            "workloads" => workloads::look(self).await,
            _ => dns::look(self).await,
        };
        if let Some(evidence) = verdict.evidence_mut() {
            evidence.simulated = self.met.simulated;
        }
        verdict
    }

    async fn probe(&self, unit: &Unit, _: &CheckName, _: &Hands) -> Result<Verdict, ActError> {
        Err(Failure::permanent(format!("{unit} has no probe")).into())
    }

    async fn inputs(&self, unit: &Unit, _: &CheckName, _: &Eyes) -> Result<Digest, Failure> {
        Err(Failure::permanent(format!("{unit} has no probe")))
    }

    fn heals(&self, code: Code) -> Heals {
        healing::of(code)
    }

    fn next_steps(&self, _: &Unit, cause: &Cause) -> Vec<NextStep> {
        let refused = cause.code == codes::COULD_NOT_LOOK && self.user.get().is_some();
        let granted = refused.then(|| self.grant());
        let own = cause.next.iter().map(|step| self.invocation.complete(step));
        granted.into_iter().chain(own).collect()
    }

    fn skip(&self, unit: &Unit, check: Option<&CheckName>) -> Option<Skip> {
        let gate = unit.stage.as_str();
        let reason = match check {
            None => self.selection.without_gate(gate),
            Some(check) => self.selection.left_out(gate, check),
        };
        Some(Skip { reason: reason?.to_owned() })
    }

    /// Nothing is built here: every gate is heard.
    fn after_failure(&self) -> AfterFailure {
        AfterFailure::GoOn
    }
}
