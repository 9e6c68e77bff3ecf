//! The files of a node that anybody reads.

use talos_proto::common::Data;
use tonic::Status;

use super::Api;

/// Where the kernel names the time since it was started: a client that reads
/// another name than before knows that the node has restarted.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

impl Api {
    /// Returns what is in a file.
    pub(super) fn file(&self, path: &str) -> Result<Data, Status> {
        if path != BOOT_ID {
            return Err(Status::unimplemented(format!("reading {path} is not simulated")));
        }
        Ok(Data { metadata: None, bytes: format!("{}\n", self.machine.boot_id()).into_bytes() })
    }
}
