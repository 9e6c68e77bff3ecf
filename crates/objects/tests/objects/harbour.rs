//! A namespace on the rig's control plane, our client, and permits from a real journal.

use std::fs;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use events::journal::{Durability, Header, Writer};
use events::{
    Call, CallClass, Clock, ClusterId, Errand, EvidenceLimits, EvidenceStore, Failure, History,
    Ledger, Permit, Plan, PlannedStage, Recorder, Redactor, RunId, Unit, What,
};
use objects::set::{Means, Report, Set, SetError, Settings};
use objects::{
    Access, ApiError, Applied, Cluster, Deleted, Doomed, Kind, Object, ObjectId, Ownership,
    Propagation, Timeouts,
};
use rig::{FaultyProxy, Namespace, need};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kwok::Yard;

/// How long a test waits for the control plane before it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct Harbour {
    pub(crate) namespace: Namespace,
    pub(crate) proxy: FaultyProxy,
    pub(crate) cluster: Cluster,
    ledger: Ledger,
    _folder: TempDir,
}

impl Harbour {
    #[track_caller]
    pub(crate) fn open() -> Option<Opening> {
        let namespace = need::namespace()?;
        let proxy = FaultyProxy::start(namespace.access()).unwrap();
        Some(Opening { namespace, proxy })
    }

    /// A namespace on a control plane of the test's own.
    pub(crate) fn open_on(access: &rig::Access) -> Opening {
        let namespace = Namespace::create(access).unwrap();
        let proxy = FaultyProxy::start(access).unwrap();
        Opening { namespace, proxy }
    }

    pub(crate) fn kind(api_version: &str, kind: &str) -> Kind {
        Kind::new(api_version, kind).unwrap()
    }

    /// An object in the test's namespace.
    pub(crate) fn object(
        &self,
        api_version: &str,
        kind: &str,
        name: &str,
        mut body: Value,
    ) -> Object {
        body["apiVersion"] = api_version.into();
        body["kind"] = kind.into();
        body["metadata"]["name"] = name.into();
        body["metadata"]["namespace"] = self.namespace.name().into();
        Object::new(body).unwrap()
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers write the value on the spot")]
    pub(crate) fn config_map(&self, name: &str, data: Value) -> Object {
        self.object("v1", "ConfigMap", name, json!({ "data": data }))
    }

    pub(crate) async fn permit(&self) -> Permit {
        let call = Call::new(CallClass::Idempotent, "test", "it", b"");
        let (permit, receipt) = self.ledger.intend(&Unit::whole("test"), 1, call).await.unwrap();
        let outcome = events::CallOutcome::Done { made: events::Made::default() };
        self.ledger.close(receipt, 1, outcome).await.unwrap();
        permit
    }

    /// Deletes as a command does: with a permit for each request.
    pub(crate) fn deleting(
        &self,
        cluster: &Cluster,
        propagation: Propagation,
    ) -> impl Fn(Doomed) -> Pin<Box<dyn Future<Output = Result<Deleted, Failure>> + Send>> + use<>
    {
        let (cluster, ledger) = (cluster.clone(), self.ledger.clone());
        move |doomed| {
            let (cluster, ledger) = (cluster.clone(), ledger.clone());
            Box::pin(async move {
                let call = Cluster::delete_call(&doomed);
                let (permit, receipt) = ledger.intend(&Unit::whole("test"), 1, call).await.unwrap();
                let answer = cluster.delete(permit, &doomed, propagation).await;
                let outcome = events::CallOutcome::Done { made: events::Made::default() };
                ledger.close(receipt, 1, outcome).await.unwrap();
                answer.map_err(|error| error.failure())
            })
        }
    }

    /// Applies as `up` does: looks, then sends.
    pub(crate) async fn apply(&self, object: &Object) -> Result<Applied, ApiError> {
        self.apply_as(object, Ownership::Respect).await
    }

    pub(crate) async fn apply_as(
        &self,
        object: &Object,
        ownership: Ownership,
    ) -> Result<Applied, ApiError> {
        let before = self.cluster.get(object.id()).await?.and_then(|live| live.version());
        self.cluster.apply(self.permit().await, object, ownership, before.as_ref()).await
    }

    /// A client that has not asked for anything yet.
    pub(crate) async fn fresh(&self) -> Cluster {
        let kubeconfig = fs::read(self.proxy.kubeconfig()).unwrap();
        Access::from_kubeconfig(&kubeconfig, None).unwrap().connect().await.unwrap()
    }

    /// Applies a set as a whole.
    pub(crate) async fn apply_set(
        &self,
        objects: Vec<Object>,
        settings: Settings,
    ) -> Result<Report, SetError> {
        let set = Set::new(objects, self.namespace.name());
        self.cluster.apply_set(set, settings, &means(), |_| ()).await
    }

    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        let inside = ["-n", self.namespace.name()];
        let args: Vec<&str> = inside.iter().chain(args).copied().collect();
        self.namespace.kubectl().run(&args).unwrap()
    }

    /// Connects as an account of the namespace that may do just this there.
    pub(crate) async fn as_account(&self, name: &str, rules: Value) -> Cluster {
        self.kubectl(&["create", "serviceaccount", name]);
        let role =
            self.object("rbac.authorization.k8s.io/v1", "Role", name, json!({ "rules": rules }));
        self.apply(&role).await.unwrap();
        let account = format!("--serviceaccount={}:{name}", self.namespace.name());
        self.kubectl(&["create", "rolebinding", name, &format!("--role={name}"), &account]);
        let token = self.kubectl(&["create", "token", name]);
        let text = fs::read_to_string(self.proxy.kubeconfig()).unwrap();
        let mut config: Value = serde_json::from_str(&text).unwrap();
        config["users"][0]["user"] = json!({ "token": token.trim() });
        let access = Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap();
        // A watch outlives the right to it; only a new one is refused.
        let short = Timeouts { silence: Duration::from_secs(2), ..Timeouts::default() };
        access.timeouts(short).connect().await.unwrap()
    }

    /// Polls until an object is as wanted.
    #[expect(clippy::disallowed_methods, reason = "a test waits for the real control plane")]
    pub(crate) async fn until(&self, id: &ObjectId, wanted: impl Fn(&Object) -> bool) -> Object {
        let poll = async {
            loop {
                if let Some(object) = self.cluster.get(id).await.unwrap()
                    && wanted(&object)
                {
                    return object;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(PATIENCE, poll).await.expect("the object becomes as wanted")
    }
}

/// What a set needs from outside.
pub(crate) fn means() -> Means {
    let run = RunId::new("2026-11-16T12:00:00Z".parse().unwrap(), 43);
    Means::new(Arc::new(Errand::new(run)), Clock::real())
}

/// What a harbour is made of before there is a client.
pub(crate) struct Opening {
    pub(crate) namespace: Namespace,
    pub(crate) proxy: FaultyProxy,
}

impl Opening {
    pub(crate) async fn harbour(self) -> Harbour {
        self.with(Timeouts::default()).await
    }

    pub(crate) async fn with(self, timeouts: Timeouts) -> Harbour {
        let kubeconfig = fs::read(self.proxy.kubeconfig()).unwrap();
        let access = Access::from_kubeconfig(&kubeconfig, None).unwrap().timeouts(timeouts);
        let cluster = access.connect().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(&folder);
        let Self { namespace, proxy } = self;
        Harbour { namespace, proxy, cluster, ledger, _folder: folder }
    }
}

fn ledger(folder: &TempDir) -> Ledger {
    let run = RunId::new("2026-11-15T12:00:00Z".parse().unwrap(), 42);
    let header = Header::new(run, ClusterId::new(7));
    let journal = folder.path().join("journal.jsonl");
    let writer = Writer::create(&journal, &header, Durability::Unsynced).unwrap();
    let evidence = EvidenceStore::new(folder.path(), EvidenceLimits::default());
    let recorder =
        Recorder::new(&header, writer, evidence, Redactor::new([7; 32]), Clock::real(), vec![]);
    let unit = Unit::whole("test");
    recorder.record(1, What::RunStarted { plan: Box::new(plan()), resumes: None }).unwrap();
    recorder.record(1, What::StageStarted { unit: unit.clone() }).unwrap();
    recorder.record(1, What::AttemptStarted { unit, after: None }).unwrap();
    Ledger::new(recorder, History::default())
}

fn plan() -> Plan {
    let stage = PlannedStage { name: "test".into(), after: vec![], nodes: None, checks: vec![] };
    Plan {
        command: "up".to_owned(),
        cluster: "demo".to_owned(),
        cluster_id: ClusterId::new(7),
        title: String::new(),
        tool: "0.1.0".to_owned(),
        nodes: vec![],
        stages: vec![stage],
        spec: None,
        monthly_cents: None,
        simulated_speed: None,
        rerun: None,
        stand_ins: Vec::new(),
    }
}

impl Yard {
    pub(crate) fn opening(&self) -> Opening {
        Harbour::open_on(self.plane.access())
    }
}
