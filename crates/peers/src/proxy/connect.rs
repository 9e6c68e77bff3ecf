//! `CONNECT`: a tunnel through an HTTP proxy.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::io_reason;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::Proxy;
use crate::{ProxyProblem, bounds};

/// Asks a proxy for a tunnel to `target`, on a connection to it.
pub(crate) async fn tunnel<S>(
    stream: &mut S,
    proxy: &Proxy,
    target: &str,
) -> Result<(), ProxyProblem>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let lost = |error| ProxyProblem::Lost(io_reason(&error));
    stream.write_all(request(proxy, target).as_bytes()).await.map_err(lost)?;
    let head = head(stream).await?;
    let line = head.lines().next().unwrap_or_default();
    let mut words = line.splitn(3, ' ');
    let (version, code) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !version.starts_with("HTTP/1.") {
        return Err(ProxyProblem::Garbled("its answer is not HTTP"));
    }
    match code {
        "407" => Err(ProxyProblem::Credentials),
        code if code.len() == 3 && code.starts_with('2') => Ok(()),
        code => {
            let reason = format!("{code} {}", words.next().unwrap_or_default());
            let reason = events::text::line(reason.trim());
            Err(ProxyProblem::Refused { target: target.to_owned(), reason })
        }
    }
}

fn request(proxy: &Proxy, target: &str) -> String {
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
    if let Some(login) = &proxy.login {
        let pair = STANDARD.encode(format!("{}:{}", login.user, login.password));
        request.push_str("Proxy-Authorization: Basic ");
        request.push_str(&pair);
        request.push_str("\r\n");
    }
    request + "\r\n"
}

/// Reads the answer's head byte by byte: what follows belongs to the server.
async fn head<S: AsyncRead + Unpin>(stream: &mut S) -> Result<String, ProxyProblem> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= bounds::PROXY_HEAD {
            return Err(ProxyProblem::Garbled("its answer has no end"));
        }
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(error) => return Err(ProxyProblem::Lost(io_reason(&error))),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answered(answer: &[u8]) -> Result<(), ProxyProblem> {
        let (mut ours, mut theirs) = tokio::io::duplex(64 << 10);
        theirs.write_all(answer).await.unwrap();
        let kept = if answer.ends_with(b"\r\n\r\n") {
            Some(theirs)
        } else {
            theirs.shutdown().await.unwrap();
            None
        };
        let proxy = Proxy::parse("HTTPS_PROXY", "http://bob:hunter22@proxy:1").unwrap();
        let done = tunnel(&mut ours, &proxy, "api.example:6443").await;
        drop(kept);
        done
    }

    #[tokio::test]
    async fn every_answer_of_a_proxy_has_its_words() {
        assert_eq!(answered(b"HTTP/1.1 200 Connection established\r\n\r\n").await, Ok(()));
        let said = |answer: Result<(), ProxyProblem>| answer.unwrap_err().to_string();
        assert!(
            said(answered(b"HTTP/1.1 407 x\r\n\r\n").await)
                .starts_with("asks for credentials (407)")
        );
        assert_eq!(
            said(answered(b"HTTP/1.0 403 For\x1b[2Jbidden\r\nA: b\r\n\r\n").await),
            "refuses to connect to api.example:6443: 403 For␛[2Jbidden"
        );
        assert_eq!(
            said(answered(b"SSH-2.0-x\r\n\r\n").await),
            "does not answer as a proxy: its answer is not HTTP"
        );
        assert_eq!(
            said(answered(&[b'x'; 9 << 10]).await),
            "does not answer as a proxy: its answer has no end"
        );
        assert!(said(answered(b"HTTP/1.1 200").await).starts_with("closed the connection: "));
    }
}
