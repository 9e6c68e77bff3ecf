//! Answering: a connection at a time per thread, a request per connection.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use crate::dial;
use crate::query::Query;

/// A client that says nothing for so long is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than any probe sends.
const LONGEST_REQUEST: u64 = 64 << 10;

/// An answer: its status, its type and its body.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
}

/// Serves until the process ends.
pub(crate) fn serve(port: u16) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    serve_on(&listener)
}

pub(crate) fn serve_on(listener: &TcpListener) -> io::Result<()> {
    loop {
        let (client, _) = listener.accept()?;
        // What one client does is no reason to leave the others.
        thread::spawn(move || drop(attend(&client)));
    }
}

fn attend(client: &TcpStream) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(client.take(LONGEST_REQUEST));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut header = String::new();
    while reader.read_line(&mut header)? > 2 {
        header.clear();
    }
    let answer = answer(&first);
    let mut client = client;
    write!(
        client,
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    )?;
    client.write_all(&answer.body)
}

fn answer(first: &str) -> Answer {
    let mut words = first.split_whitespace();
    let (Some("GET" | "HEAD"), Some(target)) = (words.next(), words.next()) else {
        return Answer::text("405 Method Not Allowed", "only GET is served\n");
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let query = Query::read(query);
    match path {
        "/healthz" => Answer::text("200 OK", ""),
        "/hostname" | "/hostName" => Answer::text("200 OK", hostname()),
        "/echo" => Answer::text("200 OK", query.get("msg").unwrap_or_default()),
        "/dial" => Answer::json(dial::dial(&query)),
        _ => Answer::text("404 Not Found", "no such page\n"),
    }
}

/// The kernel tells it, and in a pod it is the pod's name.
fn hostname() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

impl Answer {
    fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self { status, kind: "text/plain", body: body.into().into_bytes() }
    }

    fn json(body: String) -> Self {
        Self { status: "200 OK", kind: "application/json", body: body.into_bytes() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Serves on a port of its own, until the test's process ends.
    pub(crate) fn started() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || serve_on(&listener));
        port
    }

    pub(crate) fn ask(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    }

    #[test]
    fn pages_are_served_and_others_are_not() {
        let port = started();
        assert!(ask(port, "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(ask(port, "/hostname").ends_with(&format!("\r\n\r\n{}", hostname())));
        assert!(ask(port, "/echo?msg=a%20b").ends_with("\r\n\r\na b"));
        assert!(ask(port, "/etc/passwd").starts_with("HTTP/1.1 404 "));
    }

    #[test]
    fn a_client_that_hangs_up_ends_only_itself() {
        let port = started();
        drop(TcpStream::connect(("127.0.0.1", port)).unwrap());
        let mut rude = TcpStream::connect(("127.0.0.1", port)).unwrap();
        rude.write_all(b"\x16\x03\x01 this is no HTTP\r\n\r\n").unwrap();
        let mut said = String::new();
        rude.read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 405 "), "{said}");
        assert!(ask(port, "/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
    }
}
