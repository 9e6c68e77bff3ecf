//! What a node has logged.

use talos_proto::common::{ContainerDriver, Data};
use talos_proto::machine as proto;
use tonic::Streaming;

use super::reply::failure;
use super::{Client, ClientError, Reason};

/// The namespace of the node's own services.
const SYSTEM: &str = "system";
/// The most that is kept of a log: its end says what happened last.
const KEPT: usize = 4 << 20;

impl Client {
    /// Reads the last `lines` that a system service has logged, such as
    /// `apid`. A service that never ran has no log, which is not found.
    pub async fn service_log(&self, service: &str, lines: u16) -> Result<String, ClientError> {
        self.ask("read the log of a service", async {
            let request = proto::LogsRequest {
                namespace: SYSTEM.to_owned(),
                id: service.to_owned(),
                driver: ContainerDriver::Containerd.into(),
                follow: false,
                tail_lines: lines.into(),
            };
            let answer = self.machine().logs(self.question(request)).await;
            self.text(self.answer(answer)?, "").await
        })
        .await
    }

    /// Reads the log of the kernel.
    pub async fn kernel_log(&self) -> Result<String, ClientError> {
        self.ask("read the log of the kernel", async {
            let answer = self.machine().dmesg(self.question(proto::DmesgRequest::default())).await;
            // Each message comes alone, not always with an end of its line.
            self.text(self.answer(answer)?, "\n").await
        })
        .await
    }

    /// Collects a text, or the end of it where it is long.
    async fn text(&self, mut stream: Streaming<Data>, end: &str) -> Result<String, Reason> {
        let mut bytes = Vec::new();
        while let Some(data) = stream.message().await.map_err(|status| self.reason(&status))? {
            if let Some(reason) = data.metadata.as_ref().and_then(failure) {
                return Err(reason);
            }
            bytes.extend(data.bytes);
            if !bytes.ends_with(end.as_bytes()) {
                bytes.extend(end.bytes());
            }
            let too_many = bytes.len().saturating_sub(KEPT);
            bytes.drain(..too_many);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
