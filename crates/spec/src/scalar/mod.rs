//! Values that are written as one word: names, versions, durations, addresses.
//!
//! Each type says in one [`Format`] what it looks like. The decoder words its
//! messages from it and the JSON Schema its patterns, so the two cannot drift.

mod address;
mod amount;
mod duration;
mod format;
mod image;
mod label;
mod name;
mod place;
mod registry;
mod text;
mod version;

pub use address::{Cidr, Mac, SourceRange};
pub use amount::{Bytes, Euro, Within};
pub use duration::Duration;
pub use image::{Egress, ImageName};
pub use label::{LabelKey, LabelValue, Taint, TaintEffect};
pub use name::{ClusterName, DnsName, PoolName, ResourceName};
pub use place::{Architecture, LoadBalancerType, Location, NetworkZone, ServerType};
pub use registry::RegistryHost;
pub use text::{Extension, FilePath, GitUrl, HttpUrl, HttpsUrl, ServiceUrl, Text};
pub use version::Version;

pub(crate) use format::{Complaint, Format, Json, Scalar, Word, one_of, shortened};
