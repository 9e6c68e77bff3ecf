//! SOCKS5 (RFC 1928), with a user and password where the proxy wants them
//! (RFC 1929). The proxy resolves names.

use std::net::IpAddr;

use events::io_reason;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::{Login, Proxy, place};
use crate::ProxyProblem;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NONE_FITS: u8 = 0xff;

/// Asks a proxy for a tunnel to a server, on a connection to it.
pub(crate) async fn tunnel<S>(
    stream: &mut S,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(), ProxyProblem>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let login = proxy.login.as_ref();
    let offered: &[u8] = if login.is_some() { &[NO_LOGIN, PASSWORD] } else { &[NO_LOGIN] };
    let count = u8::try_from(offered.len()).expect("one or two");
    send(stream, &[&[VERSION, count], offered].concat()).await?;
    match (answer(stream).await?, login) {
        ([VERSION, NO_LOGIN], _) => {}
        ([VERSION, PASSWORD], Some(login)) => authenticate(stream, login).await?,
        ([VERSION, NONE_FITS], _) => return Err(ProxyProblem::Credentials),
        _ => return Err(ProxyProblem::Garbled("its answer is not SOCKS5")),
    }
    send(stream, &wish(host, port)?).await?;
    let [version, code, _, kind] = answer(stream).await?;
    if version != VERSION {
        return Err(ProxyProblem::Garbled("its answer is not SOCKS5"));
    }
    if code != 0 {
        let reason = meaning(code).to_owned();
        return Err(ProxyProblem::Refused { target: place(host, port), reason });
    }
    skip_address(stream, kind).await
}

async fn authenticate<S>(stream: &mut S, login: &Login) -> Result<(), ProxyProblem>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let too_long = || ProxyProblem::Garbled("its user or password has more than 255 bytes");
    let part = |text: &str| -> Result<Vec<u8>, ProxyProblem> {
        let length = u8::try_from(text.len()).map_err(|_| too_long())?;
        Ok([&[length], text.as_bytes()].concat())
    };
    let sent = [vec![1], part(&login.user)?, part(&login.password)?].concat();
    send(stream, &sent).await?;
    match answer(stream).await? {
        [_, 0] => Ok(()),
        _ => Err(ProxyProblem::Credentials),
    }
}

fn wish(host: &str, port: u16) -> Result<Vec<u8>, ProxyProblem> {
    let mut wish = vec![VERSION, 1, 0];
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            wish.push(1);
            wish.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            wish.push(4);
            wish.extend(address.octets());
        }
        Err(_) => {
            let length = u8::try_from(host.len())
                .map_err(|_| ProxyProblem::Garbled("it takes no name of more than 255 bytes"))?;
            wish.extend([3, length]);
            wish.extend(host.as_bytes());
        }
    }
    wish.extend(port.to_be_bytes());
    Ok(wish)
}

/// The address that the proxy uses says nothing to us.
async fn skip_address<S: AsyncRead + Unpin>(stream: &mut S, kind: u8) -> Result<(), ProxyProblem> {
    let length = match kind {
        1 => 4,
        4 => 16,
        3 => {
            let [length] = answer(stream).await?;
            usize::from(length)
        }
        _ => return Err(ProxyProblem::Garbled("its answer has no address")),
    };
    let mut rest = vec![0; length + 2];
    let read = stream.read_exact(&mut rest).await;
    read.map(drop).map_err(|error| ProxyProblem::Lost(io_reason(&error)))
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> Result<(), ProxyProblem> {
    stream.write_all(bytes).await.map_err(|error| ProxyProblem::Lost(io_reason(&error)))
}

async fn answer<const N: usize, S: AsyncRead + Unpin>(
    stream: &mut S,
) -> Result<[u8; N], ProxyProblem> {
    let mut bytes = [0; N];
    let read = stream.read_exact(&mut bytes).await;
    read.map(|_| bytes).map_err(|error| ProxyProblem::Lost(io_reason(&error)))
}

fn meaning(code: u8) -> &'static str {
    match code {
        2 => "its rules do not allow it",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "no answer in time",
        _ => "it failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a tunnel against bytes that a proxy would send, and returns what it
    /// was sent.
    async fn with(url: &str, answers: &[u8]) -> (Result<(), ProxyProblem>, Vec<u8>) {
        let (mut ours, mut theirs) = tokio::io::duplex(4096);
        theirs.write_all(answers).await.unwrap();
        let proxy = Proxy::parse("proxy-url", url).unwrap();
        let done = tunnel(&mut ours, &proxy, "api.example", 6443).await;
        drop(ours);
        let mut sent = Vec::new();
        theirs.read_to_end(&mut sent).await.unwrap();
        (done, sent)
    }

    #[tokio::test]
    async fn a_tunnel_is_asked_for_by_name() {
        let yes = [5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 80];
        let (done, sent) = with("socks5://proxy", &yes).await;
        assert_eq!(done, Ok(()));
        let wish = [&[5, 1, 0, 5, 1, 0, 3, 11], b"api.example".as_slice(), &[0x19, 0x2b]].concat();
        assert_eq!(sent, wish);
        let yes = [5, 2, 1, 0, 5, 0, 0, 3, 1, b'x', 0, 80];
        let (done, sent) = with("socks5://bob:hunter22@proxy", &yes).await;
        assert_eq!(done, Ok(()));
        let login = [&[5, 2, 0, 2, 1, 3], b"bob".as_slice(), &[8], b"hunter22"].concat();
        assert!(sent.starts_with(&login), "{sent:?}");
    }

    #[tokio::test]
    async fn refusals_are_named() {
        let said = |(done, _): (Result<(), ProxyProblem>, Vec<u8>)| done.unwrap_err().to_string();
        assert!(said(with("socks5://proxy", &[5, 0xff]).await).starts_with("asks for credentials"));
        let no = said(with("socks5://proxy", &[5, 0, 5, 5, 0, 1]).await);
        assert_eq!(no, "refuses to connect to api.example:6443: connection refused");
        let other = said(with("socks5://proxy", b"HTTP/1.1 400").await);
        assert_eq!(other, "does not answer as a proxy: its answer is not SOCKS5");
    }
}
