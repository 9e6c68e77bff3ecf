//! What the node of a test answers.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use talos_proto::common;
use talos_proto::cosi::resource as cosi;
use talos_proto::cosi::resource::state_server::State;
use talos_proto::google::rpc;
use talos_proto::machine as proto;
use talos_proto::machine::image_service_server::ImageService;
use talos_proto::machine::lifecycle_service_server::LifecycleService;
use talos_proto::machine::machine_service_server::MachineService;
use tonic::{Code, Request, Response, Status};

/// What the node answers, and what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    /// The answer to everything.
    pub(crate) status: Option<Status>,
    /// A failure inside an answer that is good as a whole.
    pub(crate) inner: Option<Inner>,
    /// No answer at all.
    pub(crate) hang: bool,
    /// The head of an answer, and then nothing.
    pub(crate) stall: bool,
    /// Ends all connections when asked.
    pub(crate) drop_connections: bool,
    /// What it was asked, with the deadline that it was told.
    pub(crate) asked: Vec<String>,
    /// What it does instead of a good answer.
    pub(crate) hostile: Option<Hostile>,
    /// The config that it was given, and the mode.
    pub(crate) applied: Option<(Vec<u8>, i32)>,
    /// What the kubeconfig's archive holds.
    pub(crate) archive: Vec<u8>,
}

/// What a node does that means us no good.
#[derive(Clone, Copy)]
pub(crate) enum Hostile {
    /// Lists and logs of texts of this size do not end, with a pause after each.
    Endless { size: usize, pause: Option<Duration> },
    /// A resource is larger than any message may be.
    Oversize,
}

/// How a node's failure is told: by a status, in words, or by both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inner {
    pub(crate) status: Option<(Code, &'static str)>,
    pub(crate) error: &'static str,
}

#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) script: Arc<Mutex<Script>>,
    pub(crate) admins_only: bool,
    pub(crate) cut: tokio::sync::watch::Sender<()>,
}

impl Api {
    async fn hear<T>(
        &self,
        what: &str,
        request: &Request<T>,
    ) -> Result<Option<common::Metadata>, Status> {
        let (status, inner, hang) = {
            let mut script = self.script.lock().unwrap();
            let deadline = request.metadata().get("grpc-timeout").unwrap().to_str().unwrap();
            script.asked.push(format!("{what} {deadline}"));
            if script.drop_connections {
                let _ = self.cut.send(());
            }
            (script.status.clone(), script.inner, script.hang || script.drop_connections)
        };
        if hang {
            std::future::pending::<()>().await;
        }
        if let Some(status) = status {
            return Err(status);
        }
        let status = |(code, message): (Code, &str)| rpc::Status {
            code: code as i32,
            message: message.to_owned(),
            ..Default::default()
        };
        Ok(inner.map(|inner| common::Metadata {
            hostname: "demo-cp-1".to_owned(),
            error: inner.error.to_owned(),
            status: inner.status.map(status),
        }))
    }
}

type Stream<T> = Pin<Box<dyn tokio_stream::Stream<Item = Result<T, Status>> + Send>>;

fn stream<T: Send + 'static>(items: Vec<T>) -> Response<Stream<T>> {
    Response::new(Box::pin(tokio_stream::iter(items.into_iter().map(Ok))))
}

/// The same message again and again.
#[expect(clippy::disallowed_methods, reason = "this server is slow on purpose")]
fn endless<T>(item: T, pause: Option<Duration>) -> Response<Stream<T>>
where
    T: Clone + Send + Sync + 'static,
{
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        while sender.send(Ok(item.clone())).await.is_ok() {
            if let Some(pause) = pause {
                tokio::time::sleep(pause).await;
            }
        }
    });
    Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(receiver)))
}

impl Api {
    fn hostile(&self) -> Option<Hostile> {
        self.script.lock().unwrap().hostile
    }
}

#[tonic::async_trait]
impl MachineService for Api {
    type KubeconfigStream = Stream<common::Data>;
    type LogsStream = Stream<common::Data>;
    type DmesgStream = Stream<common::Data>;
    type ReadStream = Stream<common::Data>;
    type EventsStream = Stream<proto::Event>;

    async fn apply_configuration(
        &self,
        request: Request<proto::ApplyConfigurationRequest>,
    ) -> Result<Response<proto::ApplyConfigurationResponse>, Status> {
        let metadata = self.hear("apply", &request).await?;
        let request = request.into_inner();
        self.script.lock().unwrap().applied = Some((request.data, request.mode));
        let message = proto::ApplyConfiguration {
            metadata,
            warnings: vec!["odd".to_owned()],
            mode: 2,
            mode_details: "Applied configuration without a reboot".to_owned(),
        };
        Ok(Response::new(proto::ApplyConfigurationResponse { messages: vec![message] }))
    }

    async fn bootstrap(
        &self,
        request: Request<proto::BootstrapRequest>,
    ) -> Result<Response<proto::BootstrapResponse>, Status> {
        let metadata = self.hear("bootstrap", &request).await?;
        let messages = vec![proto::Bootstrap { metadata }];
        Ok(Response::new(proto::BootstrapResponse { messages }))
    }

    async fn reset(
        &self,
        request: Request<proto::ResetRequest>,
    ) -> Result<Response<proto::ResetResponse>, Status> {
        let metadata = self.hear("reset", &request).await?;
        let wanted = request.into_inner();
        assert_eq!((wanted.graceful, wanted.reboot, wanted.mode), (true, false, 1));
        let messages = vec![proto::Reset { metadata, actor_id: String::new() }];
        Ok(Response::new(proto::ResetResponse { messages }))
    }

    async fn version(
        &self,
        request: Request<()>,
    ) -> Result<Response<proto::VersionResponse>, Status> {
        let metadata = self.hear("version", &request).await?;
        let version = proto::VersionInfo {
            tag: "v1.14.1".to_owned(),
            arch: "arm64".to_owned(),
            ..Default::default()
        };
        let platform = proto::PlatformInfo { name: "hcloud".to_owned(), mode: "cloud".to_owned() };
        let message = proto::Version {
            metadata,
            version: Some(version),
            platform: Some(platform),
            features: None,
        };
        Ok(Response::new(proto::VersionResponse { messages: vec![message] }))
    }

    async fn service_list(
        &self,
        request: Request<()>,
    ) -> Result<Response<proto::ServiceListResponse>, Status> {
        let metadata = self.hear("services", &request).await?;
        let event = |msg: &str| proto::ServiceEvent { msg: msg.to_owned(), ..Default::default() };
        let service = |id: &str, state: &str, health| proto::ServiceInfo {
            id: id.to_owned(),
            state: state.to_owned(),
            events: Some(proto::ServiceEvents { events: vec![event("first"), event("last")] }),
            health: Some(health),
        };
        let well = proto::ServiceHealth { healthy: true, ..Default::default() };
        let unknown = proto::ServiceHealth { unknown: true, ..Default::default() };
        let ill =
            proto::ServiceHealth { last_message: "mount failed".to_owned(), ..Default::default() };
        let services = vec![
            service("apid", "Running", well),
            service("etcd", "Preparing", unknown),
            service("kubelet", "Running", ill),
        ];
        let messages = vec![proto::ServiceList { metadata, services }];
        Ok(Response::new(proto::ServiceListResponse { messages }))
    }

    async fn kubeconfig(
        &self,
        request: Request<()>,
    ) -> Result<Response<Self::KubeconfigStream>, Status> {
        let metadata = self.hear("kubeconfig", &request).await?;
        let archive = self.script.lock().unwrap().archive.clone();
        // In pieces, as it comes over the wire.
        let pieces = archive
            .chunks(100)
            .map(|piece| common::Data { metadata: metadata.clone(), bytes: piece.to_vec() });
        Ok(stream(pieces.collect()))
    }

    async fn etcd_member_list(
        &self,
        request: Request<proto::EtcdMemberListRequest>,
    ) -> Result<Response<proto::EtcdMemberListResponse>, Status> {
        let metadata = self.hear("members", &request).await?;
        let member = proto::EtcdMember {
            id: 7,
            hostname: "demo-cp-1".to_owned(),
            peer_urls: vec!["https://10.0.64.11:2380".to_owned()],
            client_urls: vec!["https://10.0.64.11:2379".to_owned()],
            is_learner: false,
        };
        let message =
            proto::EtcdMembers { metadata, legacy_members: vec![], members: vec![member] };
        Ok(Response::new(proto::EtcdMemberListResponse { messages: vec![message] }))
    }

    async fn etcd_status(
        &self,
        request: Request<()>,
    ) -> Result<Response<proto::EtcdStatusResponse>, Status> {
        let metadata = self.hear("etcd status", &request).await?;
        let status = proto::EtcdMemberStatus { member_id: 7, leader: 7, ..Default::default() };
        let message = proto::EtcdStatus { metadata, member_status: Some(status) };
        Ok(Response::new(proto::EtcdStatusResponse { messages: vec![message] }))
    }

    async fn etcd_alarm_list(
        &self,
        _: Request<()>,
    ) -> Result<Response<proto::EtcdAlarmListResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn memory(&self, _: Request<()>) -> Result<Response<proto::MemoryResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn logs(
        &self,
        request: Request<proto::LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        let metadata = self.hear("logs", &request).await?;
        if let Some(Hostile::Endless { size, pause }) = self.hostile() {
            return Ok(endless(common::Data { metadata, bytes: vec![b'x'; size] }, pause));
        }
        Ok(stream(vec![common::Data { metadata, bytes: b"a line\n".to_vec() }]))
    }

    async fn dmesg(
        &self,
        request: Request<proto::DmesgRequest>,
    ) -> Result<Response<Self::DmesgStream>, Status> {
        let metadata = self.hear("dmesg", &request).await?;
        Ok(stream(vec![common::Data { metadata, bytes: b"a line\n".to_vec() }]))
    }

    async fn read(
        &self,
        _: Request<proto::ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn events(
        &self,
        request: Request<proto::EventsRequest>,
    ) -> Result<Response<Self::EventsStream>, Status> {
        let metadata = self.hear("events", &request).await?;
        Ok(stream(vec![proto::Event { metadata, ..Default::default() }]))
    }

    async fn generate_client_configuration(
        &self,
        _: Request<proto::GenerateClientConfigurationRequest>,
    ) -> Result<Response<proto::GenerateClientConfigurationResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn upgrade(
        &self,
        request: Request<proto::UpgradeRequest>,
    ) -> Result<Response<proto::UpgradeResponse>, Status> {
        let metadata = self.hear("upgrade", &request).await?;
        let messages = vec![proto::Upgrade { metadata, ..Default::default() }];
        Ok(Response::new(proto::UpgradeResponse { messages }))
    }

    async fn reboot(
        &self,
        request: Request<proto::RebootRequest>,
    ) -> Result<Response<proto::RebootResponse>, Status> {
        let metadata = self.hear("reboot", &request).await?;
        let messages = vec![proto::Reboot { metadata, ..Default::default() }];
        Ok(Response::new(proto::RebootResponse { messages }))
    }
}

#[tonic::async_trait]
impl ImageService for Api {
    type PullStream = Stream<proto::ImageServicePullResponse>;

    async fn pull(
        &self,
        request: Request<proto::ImageServicePullRequest>,
    ) -> Result<Response<Self::PullStream>, Status> {
        self.hear("pull", &request).await?;
        Ok(stream(vec![]))
    }
}

#[tonic::async_trait]
impl LifecycleService for Api {
    type UpgradeStream = Stream<proto::LifecycleServiceUpgradeResponse>;

    async fn upgrade(
        &self,
        request: Request<proto::LifecycleServiceUpgradeRequest>,
    ) -> Result<Response<Self::UpgradeStream>, Status> {
        self.hear("install", &request).await?;
        Ok(stream(vec![]))
    }
}

fn resource(id: &str, yaml: &str) -> cosi::Resource {
    let metadata =
        cosi::Metadata { id: id.to_owned(), version: "5".to_owned(), ..Default::default() };
    let spec = cosi::Spec { yaml_spec: yaml.to_owned(), proto_spec: vec![] };
    cosi::Resource { metadata: Some(metadata), spec: Some(spec) }
}

#[tonic::async_trait]
impl State for Api {
    type ListStream = Stream<cosi::ListResponse>;
    type WatchStream = Stream<cosi::WatchResponse>;

    async fn get(
        &self,
        request: Request<cosi::GetRequest>,
    ) -> Result<Response<cosi::GetResponse>, Status> {
        self.hear("get", &request).await?;
        let asked = request.into_inner();
        if let Some(Hostile::Oversize) = self.hostile() {
            let resource = Some(resource(&asked.id, &"x".repeat(33 << 20)));
            return Ok(Response::new(cosi::GetResponse { resource }));
        }
        let yaml = match (asked.namespace.as_str(), asked.r#type.as_str(), asked.id.as_str()) {
            ("runtime", "MachineStatuses.runtime.talos.dev", "machine") => {
                "stage: booting\nstatus:\n    ready: false\n    unmetConditions:\n        \
                 - name: services\n          reason: etcd not running\n"
            }
            ("runtime", "PlatformMetadatas.talos.dev", "platformmetadata") => {
                "platform: hcloud\nhostname: demo-cp-1\nregion: fsn1\nzone: fsn1-dc14\n\
                 instanceId: \"4711\"\nproviderId: hcloud://4711\n"
            }
            ("config", "MachineConfigs.config.talos.dev", "v1alpha1") if self.admins_only => {
                "machine: {}\n"
            }
            ("config", ..) => return Err(Status::permission_denied("not authorized")),
            _ => return Err(Status::not_found("resource doesn't exist")),
        };
        let resource = Some(resource(&asked.id, yaml));
        Ok(Response::new(cosi::GetResponse { resource }))
    }

    async fn list(
        &self,
        request: Request<cosi::ListRequest>,
    ) -> Result<Response<Self::ListStream>, Status> {
        self.hear("list", &request).await?;
        let asked = request.into_inner();
        if let Some(Hostile::Endless { size, pause }) = self.hostile() {
            let resource = Some(resource("eth0", &"x".repeat(size)));
            return Ok(endless(cosi::ListResponse { resource }, pause));
        }
        let items = match (asked.namespace.as_str(), asked.r#type.as_str()) {
            ("network", "LinkStatuses.net.talos.dev") => vec![
                resource(
                    "eth0",
                    "index: 2\ntype: ether\nhardwareAddr: \"96:00:00:01:02:03\"\nkind: \"\"\nlinkState: true\n",
                ),
                resource(
                    "bond0",
                    "type: ether\nhardwareAddr: \"\"\nkind: bond\nlinkState: false\n",
                ),
                resource(
                    "lo",
                    "type: loopback\nhardwareAddr: \"\"\nkind: \"\"\nlinkState: false\n",
                ),
            ],
            ("runtime", "Disks.block.talos.dev") => vec![resource(
                "sda",
                "dev_path: /dev/sda\nsize: 40961572864\nreadonly: false\nmodel: QEMU HARDDISK\nserial: \"123\"\n",
            )],
            _ => vec![],
        };
        let items = items.into_iter().map(|it| cosi::ListResponse { resource: Some(it) });
        Ok(stream(items.collect()))
    }

    async fn watch(
        &self,
        request: Request<cosi::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        self.hear("watch", &request).await?;
        Ok(stream(vec![]))
    }
}
