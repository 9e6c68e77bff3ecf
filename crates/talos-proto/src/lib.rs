//! The parts of the Talos API that we use, as our own protocol files.
//!
//! A node speaks gRPC on port 50000 (and its trustd on 50001). The files under
//! `proto/` name the packages, services, messages and field numbers as they
//! are on the wire, and leave out whatever nobody here calls; a field that is
//! left out is skipped on reading, as the protocol has it. `build.rs` compiles
//! them with protox, so that no protocol compiler has to be installed.
//!
//! ```text
//! machine      MachineService: configure, bootstrap, ask        apid :50000
//!              ImageService, LifecycleService: since 1.13       apid :50000
//! cosi         State: read and watch the node's resources       apid :50000
//! storage      StorageService: disks                            apid :50000
//! securityapi  SecurityService: sign a node's certificate     trustd :50001
//! common       what every reply carries; google::rpc its status
//! ```
//!
//! The crate holds no behaviour. Both sides use it: the client in `talos` and
//! the simulated node in `sim`, which share the wire and nothing else.

#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    reason = "the generated code is not ours to style"
)]

/// What every reply carries.
pub mod common {
    tonic::include_proto!("common");
}

/// The state of a node's controllers.
pub mod cosi {
    /// Resources, and the service to read and watch them.
    pub mod resource {
        tonic::include_proto!("cosi.resource");

        /// The resources that describe resources.
        pub mod meta {
            tonic::include_proto!("cosi.resource.meta");
        }
    }
}

/// Messages that are not Talos's own.
pub mod google {
    /// The status of a call.
    pub mod rpc {
        tonic::include_proto!("google.rpc");
    }
}

/// The node itself.
pub mod machine {
    tonic::include_proto!("machine");
}

/// What some resources say, beside their YAML.
pub mod specs {
    tonic::include_proto!("talos.resource.definitions");
}

/// Trustd.
pub mod securityapi {
    tonic::include_proto!("securityapi");
}

/// The node's disks.
pub mod storage {
    tonic::include_proto!("storage");
}
