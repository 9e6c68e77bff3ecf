//! Bounds for everything that comes from outside. What exceeds one is an error
//! that names the bound; nothing is cut silently.
//!
//! docs/hostile-peers.md lists them; a test compares the two.

use std::time::Duration;

/// Bytes of one answer. The largest that we have seen is a page of 500 objects
/// of 20 KiB each.
pub const ANSWER: usize = 64 << 20;

/// Bytes of an answer that reports an error: a `Status` has some hundred.
pub const REFUSAL: usize = 1 << 20;

/// Bytes of all pages of one list.
pub const LIST: usize = 512 << 20;

/// Pages of one list: a million objects at 500 a page.
pub const PAGES: usize = 2_000;

/// Pages of one list of a cloud: ten thousand resources at 50 a page.
pub const CLOUD_PAGES: u32 = 200;

/// Bytes of one answer of a cloud. A page of fifty servers is below 200 KB.
pub const CLOUD_ANSWER: usize = 8 << 20;

/// Bytes of one event of a watch. etcd stores at most 1.5 MiB for an object.
pub const WATCH_EVENT: usize = 16 << 20;

/// Bytes of the head of an HTTP answer.
pub const HEAD: usize = 256 << 10;

/// Header fields of an HTTP answer.
pub const HEADER_FIELDS: usize = 100;

/// Bytes of a proxy's answer to `CONNECT`.
pub const PROXY_HEAD: usize = 8 << 10;

/// Bytes that a credential plugin may print: a token and a certificate have
/// some thousand.
pub const PLUGIN_OUTPUT: usize = 1 << 20;

/// How long a credential plugin may take where nobody is there to be asked.
pub const PLUGIN_TIME: Duration = Duration::from_mins(1);

/// How long a credential plugin may take where somebody types a password.
pub const PLUGIN_TIME_ATTENDED: Duration = Duration::from_mins(5);

/// Bytes of a token. Go's servers refuse headers of more than 1 MiB.
pub const TOKEN: usize = 256 << 10;

/// Bytes that `git ls-remote` may print for one reference.
pub const GIT_OUTPUT: usize = 1 << 20;

/// Bytes of memory that git and its helpers may each ask for: it keeps every reference
/// that a server names, asked for or not.
pub const GIT_MEMORY: u64 = 1_024 << 20;

/// How long `git ls-remote` may take.
pub const GIT_TIME: Duration = Duration::from_mins(1);

/// Bytes of one gRPC message of a node: the largest that Talos sends.
pub const GRPC_MESSAGE: usize = 32 << 20;

/// Bytes of one stream that is read to its end.
pub const GRPC_STREAM: usize = 64 << 20;

/// Messages of one stream that is read to its end, such as a list of resources.
pub const GRPC_MESSAGES: usize = 10_000;

/// How deep JSON may be nested: the limit of `serde_json`.
pub const NESTING: usize = 128;
