//! Streams that are read to their end: a node may send one without any.

use peers::bounds;
use prost::Message;
use tonic::Streaming;

use super::{Client, Reason};

/// A stream, and how much of it has been read.
pub(super) struct Bounded<'a, M> {
    client: &'a Client,
    stream: Streaming<M>,
    messages: usize,
    bytes: usize,
}

impl Client {
    /// Reads a stream, but not without end.
    pub(super) fn bounded<M>(&self, stream: Streaming<M>) -> Bounded<'_, M> {
        Bounded { client: self, stream, messages: 0, bytes: 0 }
    }
}

impl<M: Message> Bounded<'_, M> {
    /// Waits for the next message; there is none after the last.
    pub(super) async fn next(&mut self) -> Result<Option<M>, Reason> {
        let next = self.stream.message().await.map_err(|status| self.client.reason(&status))?;
        let Some(message) = next else { return Ok(None) };
        self.messages += 1;
        self.bytes += message.encoded_len();
        if self.messages > bounds::GRPC_MESSAGES {
            let most = bounds::GRPC_MESSAGES;
            return Err(Reason::Nonsense(format!("a stream of more than {most} messages")));
        }
        if self.bytes > bounds::GRPC_STREAM {
            let most = bounds::GRPC_STREAM >> 20;
            return Err(Reason::Nonsense(format!("a stream of more than {most} MiB")));
        }
        Ok(Some(message))
    }
}
