//! Sockets that many callers reach at once.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// How many callers may wait until they are let in, as with the servers that
/// are simulated here. The 128 of the library are too few when all workers of a
/// large cluster ask one control plane: the others' calls are dropped, and they
/// call again a second later.
const MAY_WAIT: u32 = 4096;

/// Listens on an address of IPv4 or IPv6.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // What was closed a moment ago does not keep the address.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(MAY_WAIT)
}
