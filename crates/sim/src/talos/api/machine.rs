//! The machine service: each method in a few lines, the rest beside it.

use futures::stream;
use talos_proto::{
    common::Data,
    machine::{
        ApplyConfigurationRequest, ApplyConfigurationResponse, Bootstrap, BootstrapRequest,
        BootstrapResponse, DmesgRequest, EtcdAlarmListResponse, EtcdMemberListRequest,
        EtcdMemberListResponse, EtcdStatus, EtcdStatusResponse, Event, EventsRequest, FeaturesInfo,
        GenerateClientConfigurationRequest, GenerateClientConfigurationResponse, LogsRequest,
        MemInfo, Memory, MemoryResponse, PlatformInfo, ReadRequest, Reboot, RebootRequest,
        RebootResponse, Reset, ResetRequest, ResetResponse, ServiceEvent, ServiceEvents,
        ServiceHealth, ServiceInfo, ServiceList, ServiceListResponse, UpgradeRequest,
        UpgradeResponse, Version, VersionInfo, VersionResponse,
        machine_service_server::MachineService, reset_request::WipeMode,
    },
};
use tonic::{Request, Response, Status};

use super::{Answers, Api, caller};
use crate::talos::{
    NodeFacts, Stage,
    node::{Afterwards, Wipe},
    services::{Health, Service},
    timestamp::on_the_wire,
};

/// What Talos says of its commit where nobody told its build.
const NO_COMMIT: &str = "undefined";

#[tonic::async_trait]
impl MachineService for Api {
    type KubeconfigStream = Answers<Data>;
    type LogsStream = Answers<Data>;
    type DmesgStream = Answers<Data>;
    type ReadStream = Answers<Data>;
    type EventsStream = Answers<Event>;

    async fn apply_configuration(
        &self,
        request: Request<ApplyConfigurationRequest>,
    ) -> Result<Response<ApplyConfigurationResponse>, Status> {
        let caller = caller(&request)?;
        let message = self.apply(request.get_ref(), &caller).await?;
        Ok(Response::new(ApplyConfigurationResponse { messages: vec![message] }))
    }

    async fn bootstrap(
        &self,
        request: Request<BootstrapRequest>,
    ) -> Result<Response<BootstrapResponse>, Status> {
        let caller = caller(&request)?;
        self.begin_etcd(request.get_ref(), &caller).await?;
        Ok(Response::new(BootstrapResponse { messages: vec![Bootstrap::default()] }))
    }

    async fn version(&self, _: Request<()>) -> Result<Response<VersionResponse>, Status> {
        let configured = self.machine.state().config.is_some();
        let message = version(self.machine.version(), &self.machine.facts, configured);
        Ok(Response::new(VersionResponse { messages: vec![message] }))
    }

    async fn memory(&self, _: Request<()>) -> Result<Response<MemoryResponse>, Status> {
        let total = u64::from(self.machine.facts.memory_mib) * 1024;
        let meminfo = MemInfo { memtotal: total, memfree: total / 2, memavailable: total / 2 };
        let messages = vec![Memory { metadata: None, meminfo: Some(meminfo) }];
        Ok(Response::new(MemoryResponse { messages }))
    }

    async fn service_list(&self, _: Request<()>) -> Result<Response<ServiceListResponse>, Status> {
        let state = self.machine.state();
        let services = state.services.iter().map(|(name, service)| info(name, service)).collect();
        let messages = vec![ServiceList { metadata: None, services }];
        Ok(Response::new(ServiceListResponse { messages }))
    }

    async fn kubeconfig(&self, _: Request<()>) -> Result<Response<Self::KubeconfigStream>, Status> {
        let data = Data { metadata: None, bytes: self.admin_kubeconfig()? };
        Ok(Response::new(Box::pin(stream::iter([Ok(data)]))))
    }

    async fn etcd_member_list(
        &self,
        request: Request<EtcdMemberListRequest>,
    ) -> Result<Response<EtcdMemberListResponse>, Status> {
        let members = self.members(&caller(&request)?).await?;
        Ok(Response::new(EtcdMemberListResponse { messages: vec![members] }))
    }

    async fn etcd_status(
        &self,
        request: Request<()>,
    ) -> Result<Response<EtcdStatusResponse>, Status> {
        let member_status = Some(self.member_status(&caller(&request)?).await?);
        let messages = vec![EtcdStatus { metadata: None, member_status }];
        Ok(Response::new(EtcdStatusResponse { messages }))
    }

    async fn etcd_alarm_list(
        &self,
        request: Request<()>,
    ) -> Result<Response<EtcdAlarmListResponse>, Status> {
        let messages = vec![self.alarms(&caller(&request)?).await?];
        Ok(Response::new(EtcdAlarmListResponse { messages }))
    }

    async fn logs(
        &self,
        request: Request<LogsRequest>,
    ) -> Result<Response<Self::LogsStream>, Status> {
        Ok(Response::new(Box::pin(stream::iter(self.log(request.get_ref())?.map(Ok)))))
    }

    async fn dmesg(
        &self,
        request: Request<DmesgRequest>,
    ) -> Result<Response<Self::DmesgStream>, Status> {
        Ok(Response::new(Box::pin(stream::iter(self.kernel_log(*request.get_ref())?.map(Ok)))))
    }

    async fn read(
        &self,
        request: Request<ReadRequest>,
    ) -> Result<Response<Self::ReadStream>, Status> {
        Ok(Response::new(Box::pin(stream::iter([Ok(self.file(&request.get_ref().path)?)]))))
    }

    async fn events(
        &self,
        request: Request<EventsRequest>,
    ) -> Result<Response<Self::EventsStream>, Status> {
        let stop = caller(&request)?.stop;
        Ok(Response::new(self.told_events(request.get_ref(), stop)?))
    }

    async fn generate_client_configuration(
        &self,
        request: Request<GenerateClientConfigurationRequest>,
    ) -> Result<Response<GenerateClientConfigurationResponse>, Status> {
        let messages = vec![self.client_configuration(request.get_ref())?];
        Ok(Response::new(GenerateClientConfigurationResponse { messages }))
    }

    async fn upgrade(
        &self,
        request: Request<UpgradeRequest>,
    ) -> Result<Response<UpgradeResponse>, Status> {
        let caller = caller(&request)?;
        let message = self.upgrade_at_once(request.get_ref(), &caller).await?;
        Ok(Response::new(UpgradeResponse { messages: vec![message] }))
    }

    async fn reboot(
        &self,
        request: Request<RebootRequest>,
    ) -> Result<Response<RebootResponse>, Status> {
        let caller = caller(&request)?;
        let actor_id = self.actor();
        self.machine.stop(&actor_id, Stage::Rebooting, None, Afterwards::Restart);
        self.happened("MachineService/Reboot", &caller).await;
        let reboot = Reboot { metadata: None, actor_id };
        Ok(Response::new(RebootResponse { messages: vec![reboot] }))
    }

    async fn reset(
        &self,
        request: Request<ResetRequest>,
    ) -> Result<Response<ResetResponse>, Status> {
        let caller = caller(&request)?;
        let wipe = wipe(request.get_ref());
        let then = if request.get_ref().reboot { Afterwards::Restart } else { Afterwards::Halt };
        let actor_id = self.actor();
        self.machine.stop(&actor_id, Stage::Resetting, Some(wipe), then);
        self.happened("MachineService/Reset", &caller).await;
        let reset = Reset { metadata: None, actor_id };
        Ok(Response::new(ResetResponse { messages: vec![reset] }))
    }
}

fn version(tag: String, facts: &NodeFacts, configured: bool) -> Version {
    Version {
        metadata: None,
        version: Some(VersionInfo {
            tag,
            sha: NO_COMMIT.to_owned(),
            built: String::new(),
            go_version: "go1.26.8".to_owned(),
            os: "linux".to_owned(),
            arch: facts.arch.clone(),
        }),
        platform: Some(PlatformInfo {
            name: facts.platform.clone(),
            mode: if facts.platform == NodeFacts::METAL { "metal" } else { "cloud" }.to_owned(),
        }),
        features: Some(FeaturesInfo { rbac: configured }),
    }
}

fn info(name: &str, service: &Service) -> ServiceInfo {
    let event = |event: &crate::talos::services::ServiceEvent| ServiceEvent {
        msg: event.message.clone(),
        state: event.state.name().to_owned(),
        ts: Some(on_the_wire(event.at)),
    };
    let last = service.events.last().map(|event| event.message.clone()).unwrap_or_default();
    ServiceInfo {
        id: name.to_owned(),
        state: service.state.name().to_owned(),
        events: Some(ServiceEvents { events: service.events.iter().map(event).collect() }),
        health: Some(ServiceHealth {
            unknown: service.health == Health::Unknown,
            healthy: service.health == Health::Healthy,
            last_message: if service.health == Health::Unknown { String::new() } else { last },
            last_change: Some(on_the_wire(service.since)),
        }),
    }
}

/// Returns what a reset wipes: the named partitions, or the whole system disk.
fn wipe(request: &ResetRequest) -> Wipe {
    let partitions = &request.system_partitions_to_wipe;
    let system = request.mode() != WipeMode::UserDisks;
    let wiped = |label: &str| {
        let named = partitions.iter().any(|partition| partition.wipe && partition.label == label);
        system && (partitions.is_empty() || named)
    };
    Wipe { state: wiped("STATE"), ephemeral: wiped("EPHEMERAL"), graceful: request.graceful }
}
