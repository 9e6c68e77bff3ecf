//! A server on a thread of its own, so that plain and async tests can both
//! hold one: it needs no runtime of the caller's, and blocks nobody's.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running server; dropping it stops it, open connections included.
#[derive(Debug)]
pub(crate) struct Serving {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Serving {
    /// Binds a loopback port and serves it.
    pub(crate) fn start<F: Future<Output = ()>>(
        serve: impl FnOnce(TcpListener) -> F + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), serve)
    }

    /// Binds an address and serves it.
    pub(crate) fn start_at<F: Future<Output = ()>>(
        address: SocketAddr,
        serve: impl FnOnce(TcpListener) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("rig-server".into()).spawn(move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a runtime is entered");
                tokio::select! {
                    () = serve(listener) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic over there was already printed.
            let _ = thread.join();
        }
    }
}
