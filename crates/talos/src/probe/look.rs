//! One look at a node.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustls::AlertDescription;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

use super::mode::{Mode, Owner, Seen, Shows, Then};
use super::{MAINTENANCE_NAME, Sighting};
use crate::client::Reason;
use crate::pki::Certificate;
use crate::wire::{Asked, Ending, Failed, Shown, Step, anonymous, reach, shake_hands};

/// How a client of HTTP/2 begins: the preface and an empty SETTINGS frame.
const BEGIN: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";
/// The head of a frame, and where in it the frame's type stands.
const FRAME_HEAD: usize = 9;
const FRAME_TYPE: usize = 3;
const SETTINGS: u8 = 4;
/// The organisation of every authority that Talos's own tools make.
const TALOS: &str = "O=talos";

/// Looks at a node once, within `deadline`, and says which mode it is in.
/// Nothing is changed and no secret is used. With the certificate of `ours`,
/// an authority, it is also told whether that has signed the node's.
pub async fn probe(
    address: SocketAddr,
    ours: Option<&Certificate>,
    deadline: Duration,
) -> Sighting {
    let (shown, asked) = (Shown::default(), Asked::default());
    let until = Instant::now() + deadline;
    let handshake = async {
        let tcp = reach(address, until).await?;
        let config = anonymous(shown.clone(), None, asked.clone());
        shake_hands(tcp, address, config, until).await
    };
    let mode = match handshake.await {
        Ok(stream) => Mode::of(Seen {
            certificate: Shows::of(shown.leaf().as_ref(), ours, &asked.authorities()),
            asks: asked.was_asked(),
            then: Then::of(stream, until).await,
        }),
        Err(failed) => without_tls(&failed, &shown),
    };
    Sighting {
        node: address,
        mode,
        certificate: shown.leaf().map(|leaf| leaf.facts().clone()),
        asks_for_certificate: asked.was_asked(),
        accepted_authorities: asked.authorities(),
    }
}

/// A port that is open and closes connections belongs to an API that stops or
/// starts.
fn without_tls(failed: &Failed, shown: &Shown) -> Mode {
    match (failed, Reason::of_failed(failed, shown, None)) {
        (Failed::At(Step::Tls, _), Reason::Closed | Reason::Lost(_)) => Mode::InTransition,
        (_, reason @ (Reason::NotTls | Reason::Alert(_))) => Mode::NotTalos(reason.to_string()),
        (_, reason) => Mode::Unreachable(reason),
    }
}

impl Shows {
    /// People may give a cluster an authority of another name. A node then still
    /// takes clients of just the authority that has signed its own certificate.
    fn of(leaf: Option<&Certificate>, ours: Option<&Certificate>, accepted: &[String]) -> Self {
        let Some(leaf) = leaf else { return Self::Foreign };
        let signed_by_us = ours.map(|ours| leaf.is_signed_by(ours));
        let issuer = &leaf.facts().issuer;
        let is_of_talos = issuer == TALOS || accepted == std::slice::from_ref(issuer);
        match (leaf.facts().common_name.as_deref(), signed_by_us) {
            (Some(MAINTENANCE_NAME), _) => Self::Maintenance,
            (_, Some(true)) => Self::Signed(Owner::Us),
            _ if !is_of_talos => Self::Foreign,
            (_, Some(false)) => Self::Signed(Owner::Somebody),
            (_, None) => Self::Signed(Owner::Unknown),
        }
    }
}

impl Then {
    async fn of(mut stream: TlsStream<TcpStream>, until: Instant) -> Self {
        let talk = async {
            // A node that has broken off already has said why, which is to be read.
            let _ = stream.write_all(BEGIN).await;
            let _ = stream.flush().await;
            let mut head = [0; FRAME_HEAD];
            stream.read_exact(&mut head).await.map(|_| head)
        };
        match timeout_at(until, talk).await {
            Ok(Ok(head)) if head[FRAME_TYPE] == SETTINGS => Self::Speaks,
            Ok(Ok(_)) => Self::Other,
            Ok(Err(error)) => Self::of_error(&error),
            Err(_) => Self::Silent,
        }
    }

    fn of_error(error: &io::Error) -> Self {
        match Ending::of(error) {
            Ending::Alert(AlertDescription::CertificateRequired) => Self::CertificateRequired,
            Ending::Alert(_) => Self::Other,
            Ending::Closed | Ending::Lost(_) => Self::Ends,
        }
    }
}
