//! A connection that remembers how it ended.
//!
//! The HTTP/2 library keeps of a broken connection a line of text. What may be
//! done about it depends on more than that.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustls::AlertDescription;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::watch;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The node closed it.
    Closed,
    /// The node said why, in TLS.
    Alert(AlertDescription),
    /// The network or the machine did.
    Lost(io::ErrorKind),
}

/// Where it is said how a connection ended, once it has.
#[derive(Clone)]
pub(crate) struct Fate(watch::Receiver<Option<Ending>>);

/// A connection on which the node has already spoken.
pub(crate) struct Stream<S> {
    inner: S,
    first: Vec<u8>,
    ending: watch::Sender<Option<Ending>>,
}

impl Fate {
    /// Returns how the connection ended, where it has.
    pub(crate) fn now(&self) -> Option<Ending> {
        *self.0.borrow()
    }

    /// Waits for the end.
    pub(crate) async fn end(&self) {
        // A connection that nobody holds any more has ended too.
        let _ = self.0.clone().wait_for(Option::is_some).await;
    }
}

impl<S> Stream<S> {
    /// A connection on which `first` has been read already.
    pub(crate) fn new(inner: S, first: Vec<u8>) -> Self {
        Self { inner, first, ending: watch::Sender::new(None) }
    }

    /// Returns where it will be said how the connection ended.
    pub(crate) fn fate(&self) -> Fate {
        Fate(self.ending.subscribe())
    }

    /// Whatever happens first is why; what follows are consequences.
    fn ended(&self, ending: Ending) {
        self.ending.send_if_modified(|known| {
            let first = known.is_none();
            known.get_or_insert(ending);
            first
        });
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.ended(Ending::of(error)))
    }
}

/// A connection that was ended in good order, by both sides' agreement, has
/// ended too.
impl<S> Drop for Stream<S> {
    fn drop(&mut self) {
        self.ended(Ending::Closed);
    }
}

impl Ending {
    /// Returns what an error of a connection says about its end.
    pub(crate) fn of(error: &io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::AlertReceived(alert)) => Self::Alert(*alert),
            Some(_) | None if error.kind() == io::ErrorKind::UnexpectedEof => Self::Closed,
            Some(_) | None => Self::Lost(error.kind()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let length = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..length]);
            self.first.drain(..length);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(context, buffer));
        if read.is_ok() && buffer.filled().len() == before && buffer.remaining() > 0 {
            self.ended(Ending::Closed);
        }
        Poll::Ready(self.note(read))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(context, bytes));
        Poll::Ready(self.note(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.inner).poll_flush(context));
        Poll::Ready(self.note(flushed))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
