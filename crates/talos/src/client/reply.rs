//! Replies of the node's own API: one message per node, each with its failure.

use talos_proto::common::Metadata;
use talos_proto::machine as proto;
use tonic::Code;

use super::Reason;

/// A message of a reply.
pub(super) trait Message {
    fn metadata(&self) -> Option<&Metadata>;
}

/// Returns the only message of a reply. A failure in it is a failure, although
/// the reply as a whole was good.
pub(super) fn only<M: Message>(messages: Vec<M>) -> Result<M, Reason> {
    let count = messages.len();
    let failure = messages.iter().filter_map(M::metadata).find_map(failure);
    match (failure, messages.into_iter().next()) {
        (Some(reason), _) => Err(reason),
        (None, Some(message)) if count == 1 => Ok(message),
        (None, _) => Err(Reason::Nonsense(format!("{count} nodes answered, not one"))),
    }
}

/// Returns the failure in a message's metadata.
pub(super) fn failure(metadata: &Metadata) -> Option<Reason> {
    match &metadata.status {
        Some(status) if status.code != 0 => {
            Some(Reason::of_status(Code::from_i32(status.code), &status.message))
        }
        _ if metadata.error.is_empty() => None,
        _ => Some(Reason::of_status(Code::Unknown, &metadata.error)),
    }
}

macro_rules! messages {
    ($($message:ident),*) => {
        $(impl Message for proto::$message {
            fn metadata(&self) -> Option<&Metadata> {
                self.metadata.as_ref()
            }
        })*
    };
}

messages!(
    ApplyConfiguration,
    Bootstrap,
    Reset,
    Reboot,
    Upgrade,
    Version,
    ServiceList,
    EtcdMembers,
    EtcdStatus
);
