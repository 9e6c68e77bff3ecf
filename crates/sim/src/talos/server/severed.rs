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

/// A stream with a budget of bytes to send; endless where there is none.
#[derive(Debug)]
pub(super) struct Severed {
    stream: TcpStream,
    left: Option<u64>,
}

impl Severed {
    pub(super) fn new(stream: TcpStream, left: Option<u64>) -> Self {
        Self { stream, left }
    }

    /// Returns how many of these bytes may still be sent.
    fn allowance(&self, wanted: usize) -> io::Result<usize> {
        match self.left {
            None => Ok(wanted),
            Some(0) => Err(io::ErrorKind::ConnectionReset.into()),
            Some(left) => Ok(usize::try_from(left).unwrap_or(usize::MAX).min(wanted)),
        }
    }

    fn spend(&mut self, sent: usize) {
        self.left = self.left.map(|left| left.saturating_sub(sent as u64));
    }
}

impl AsyncRead for Severed {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Severed {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let allowed = self.allowance(bytes.len())?;
        let sent = Pin::new(&mut self.stream).poll_write(context, &bytes[..allowed]);
        if let Poll::Ready(Ok(sent)) = sent {
            self.spend(sent);
        }
        sent
    }

    /// A handshake is many small records: without a budget they go out as one.
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.left.is_none() {
            return Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        }
        let first = buffers.iter().find(|buffer| !buffer.is_empty());
        self.poll_write(context, first.map_or(&[], |buffer| &**buffer))
    }

    fn is_write_vectored(&self) -> bool {
        self.left.is_none()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
