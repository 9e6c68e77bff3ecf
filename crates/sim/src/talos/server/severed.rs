//! A stream that may break after so many bytes.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// A stream with a budget of bytes to send, and one of bytes to receive.
#[derive(Debug)]
pub(super) struct Severed {
    stream: TcpStream,
    to_send: Budget,
    to_receive: Budget,
}

/// How many bytes may still pass; endless where nobody says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(pub(super) Option<u64>);

impl Budget {
    /// Returns how many of these bytes may still pass.
    fn allowance(self, wanted: usize) -> io::Result<usize> {
        match self.0 {
            None => Ok(wanted),
            Some(0) => Err(io::ErrorKind::ConnectionReset.into()),
            Some(left) => Ok(usize::try_from(left).unwrap_or(usize::MAX).min(wanted)),
        }
    }

    fn spend(&mut self, passed: usize) {
        self.0 = self.0.map(|left| left.saturating_sub(passed as u64));
    }

    fn is_endless(self) -> bool {
        self.0.is_none()
    }
}

impl Severed {
    pub(super) fn new(stream: TcpStream, to_send: Budget, to_receive: Budget) -> Self {
        Self { stream, to_send, to_receive }
    }
}

impl AsyncRead for Severed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.to_receive.is_endless() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let allowed = self.to_receive.allowance(buffer.remaining())?;
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(allowed));
        let read = Pin::new(&mut self.stream).poll_read(context, &mut part);
        let received = part.filled().len();
        buffer.advance(received);
        self.to_receive.spend(received);
        read
    }
}

impl AsyncWrite for Severed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let allowed = self.to_send.allowance(bytes.len())?;
        let sent = Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]);
        if let Poll::Ready(Ok(sent)) = sent {
            self.to_send.spend(sent);
        }
        sent
    }

    /// A handshake is many small records: without a budget they go out as one.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.to_send.is_endless() {
            return Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        }
        let first = buffers.iter().find(|buffer| !buffer.is_empty());
        self.poll_write(context, first.map_or(&[], |buffer| &**buffer))
    }

    fn is_write_vectored(&self) -> bool {
        self.to_send.is_endless()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
