//! The disks, in the older form that installers still ask for.

use talos_proto::storage::{
    Disk, Disks, DisksResponse, disk::DiskType, storage_service_server::StorageService,
};
use tonic::{Request, Response, Status};

use super::Api;

#[tonic::async_trait]
impl StorageService for Api {
    async fn disks(&self, _: Request<()>) -> Result<Response<DisksResponse>, Status> {
        let disks = self.machine.facts.disks.iter().map(on_the_wire).collect();
        Ok(Response::new(DisksResponse { messages: vec![Disks { metadata: None, disks }] }))
    }
}

fn on_the_wire(disk: &crate::talos::Disk) -> Disk {
    Disk {
        size: disk.size,
        model: disk.model.clone(),
        device_name: disk.device(),
        serial: disk.serial.clone(),
        r#type: DiskType::Hdd.into(),
        system_disk: disk.system,
        subsystem: "/sys/class/block".to_owned(),
        ..Disk::default()
    }
}
