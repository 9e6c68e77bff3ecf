//! Asking another pod, or the world, and telling what it said.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::names;
use crate::query::Query;

/// How long a connection may take, and each of its answers.
const PATIENCE: Duration = Duration::from_secs(5);

/// More than any probe is told.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Asks once, and returns `{"responses":[…]}` or `{"errors":[…]}`.
pub(crate) fn dial(query: &Query) -> String {
    let (key, said) = match asked(query).and_then(|(host, port, page)| get(host, port, page)) {
        Ok(said) => ("responses", said),
        Err(why) => ("errors", why),
    };
    format!("{{\"{key}\":[{}]}}", quoted(&said))
}

fn asked(query: &Query) -> Result<(&str, u16, &str), String> {
    let host = query.get("host").filter(|host| !host.is_empty()).ok_or("`host` is missing")?;
    let port = query.get("port").unwrap_or("80");
    let port = port.parse().map_err(|_| format!("`{port}` is no port"))?;
    match query.get("protocol").unwrap_or("http") {
        "http" => Ok((host, port, query.get("request").unwrap_or_default())),
        other => Err(format!("the protocol {other} is not spoken")),
    }
}

fn get(host: &str, port: u16, page: &str) -> Result<String, String> {
    let address = SocketAddr::new(names::resolve(host)?, port);
    let failed = |error: io::Error| format!("http://{host}:{port}/{page}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
    let request =
        format!("GET /{page} HTTP/1.0\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut said = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut said).map_err(failed)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let (head, body) = said
        .split_once("\r\n\r\n")
        .filter(|(head, _)| head.starts_with("HTTP/"))
        .ok_or_else(|| format!("http://{host}:{port}/{page}: no HTTP answer"))?;
    match head.split_whitespace().nth(1) {
        Some(code) if code.starts_with('2') || code.starts_with('3') => Ok(body.to_owned()),
        code => Err(format!("http://{host}:{port}/{page}: status {}", code.unwrap_or("unknown"))),
    }
}

/// Writes a JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::tests::{ask, started};

    #[test]
    fn one_asks_another() {
        let (one, other) = (started(), started());
        let dial = |rest: &str| {
            let said = ask(one, &format!("/dial?host=127.0.0.1&port={other}&{rest}"));
            said.split_once("\r\n\r\n").unwrap().1.to_owned()
        };
        let large = "x".repeat(2000);
        let echoed = dial(&format!("protocol=http&tries=1&request=echo%3Fmsg%3D{large}"));
        assert_eq!(echoed, format!("{{\"responses\":[\"{large}\"]}}"));
        assert_eq!(dial("request=echo%3Fmsg%3D%2522%250a"), r#"{"responses":["\"\n"]}"#);
        assert!(dial("request=nothing").contains("status 404"));
        assert!(dial("protocol=udp").contains("the protocol udp is not spoken"));
    }

    #[test]
    fn what_does_not_answer_is_told() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let query = format!("host=127.0.0.1&port={}", closed.port());
        let said = super::dial(&Query::read(&query));
        assert!(said.starts_with("{\"errors\":[\"http://127.0.0.1:"), "{said}");
        assert!(super::dial(&Query::read("port=1")).contains("`host` is missing"));
    }
}
