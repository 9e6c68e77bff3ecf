//! Names, asked of the servers that the pod was given: what the C library would
//! do needs files that a static program in an empty image does not have.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Where a pod is told its name servers.
const RESOLV_CONF: &str = "/etc/resolv.conf";

/// As the C library has it.
const PATIENCE: Duration = Duration::from_secs(5);
const ATTEMPTS: usize = 2;

/// The port of DNS.
const PORT: u16 = 53;

/// What `resolv.conf` says.
#[derive(Debug, PartialEq, Eq)]
struct Settings {
    servers: Vec<IpAddr>,
    search: Vec<String>,
    ndots: usize,
}

/// What a server said about a name.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Address(Ipv4Addr),
    NoSuchName,
    Failed(u8),
}

/// Finds the address of a host. The words of a failure begin with `lookup`.
pub(crate) fn resolve(host: &str) -> Result<IpAddr, String> {
    if let Ok(address) = host.parse() {
        return Ok(address);
    }
    let text = std::fs::read_to_string(RESOLV_CONF)
        .map_err(|error| format!("lookup {host}: {RESOLV_CONF}: {error}"))?;
    let settings = Settings::read(&text);
    let mut why = "no such host".to_owned();
    for name in settings.candidates(host) {
        match ask_all(&settings.servers, &name) {
            Ok(Said::Address(address)) => return Ok(address.into()),
            Ok(Said::NoSuchName) => {}
            Ok(Said::Failed(code)) => why = format!("the server answers with code {code}"),
            Err(error) => return Err(format!("lookup {host}: {error}")),
        }
    }
    Err(format!("lookup {host}: {why}"))
}

impl Settings {
    fn read(text: &str) -> Self {
        let mut settings = Self { servers: Vec::new(), search: Vec::new(), ndots: 1 };
        for line in text.lines() {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => {
                    settings.servers.extend(words.next().and_then(|it| it.parse::<IpAddr>().ok()));
                }
                Some("search") => settings.search = words.map(str::to_owned).collect(),
                Some("options") => {
                    let ndots = words.filter_map(|word| word.strip_prefix("ndots:")).next_back();
                    settings.ndots = ndots.and_then(|it| it.parse().ok()).unwrap_or(settings.ndots);
                }
                _ => {}
            }
        }
        settings
    }

    /// Returns the names to ask for, in order: one with few dots may be meant
    /// within a search domain.
    fn candidates(&self, host: &str) -> Vec<String> {
        if let Some(absolute) = host.strip_suffix('.') {
            return vec![absolute.to_owned()];
        }
        let within = self.search.iter().map(|domain| format!("{host}.{domain}"));
        let mut names: Vec<_> = within.collect();
        let is_whole = host.matches('.').count() >= self.ndots;
        names.insert(if is_whole { 0 } else { names.len() }, host.to_owned());
        names
    }
}

/// Asks one server after the other, each as often as it may be asked.
fn ask_all(servers: &[IpAddr], name: &str) -> Result<Said, String> {
    let mut why = "there is no name server".to_owned();
    for server in servers.iter().cycle().take(servers.len() * ATTEMPTS) {
        match ask(SocketAddr::new(*server, PORT), name) {
            Ok(said) => return Ok(said),
            Err(error) => why = format!("{server} does not answer: {error}"),
        }
    }
    Err(why)
}

fn ask(server: SocketAddr, name: &str) -> Result<Said, String> {
    let told = |error: std::io::Error| error.to_string();
    let local: SocketAddr =
        if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
    let socket = UdpSocket::bind(local).map_err(told)?;
    socket.connect(server).map_err(told)?;
    socket.set_read_timeout(Some(PATIENCE)).map_err(told)?;
    let id = number();
    socket.send(&question(id, name)?).map_err(told)?;
    let mut answer = [0; 4096];
    let length = socket.recv(&mut answer).map_err(told)?;
    read_answer(id, &answer[..length]).ok_or_else(|| "it is no answer".to_owned())
}

/// A number to tell answers by, which nobody can guess.
fn number() -> u16 {
    let [a, b, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// Writes the question for the IPv4 address of a name, RFC 1035.
fn question(id: u16, name: &str) -> Result<Vec<u8>, String> {
    let mut packet = id.to_be_bytes().to_vec();
    // Recursion is wanted; one question.
    packet.extend([0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length));
        packet.push(length.ok_or_else(|| format!("`{name}` is no name"))?);
        packet.extend(label.as_bytes());
    }
    // The end of the name; type A, class IN.
    packet.extend([0, 0, 1, 0, 1]);
    Ok(packet)
}

fn read_answer(id: u16, packet: &[u8]) -> Option<Said> {
    let number = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    if number(0)? != id || packet.get(2)? & 0x80 == 0 {
        return None;
    }
    match packet.get(3)? & 0x0f {
        0 => {}
        3 => return Some(Said::NoSuchName),
        code => return Some(Said::Failed(code)),
    }
    let mut at = 12;
    for _ in 0..number(4)? {
        at = after_name(packet, at)? + 4;
    }
    for _ in 0..number(6)? {
        at = after_name(packet, at)?;
        let (kind, length) = (number(at)?, usize::from(number(at + 8)?));
        let data = packet.get(at + 10..at + 10 + length)?;
        if let (1, [a, b, c, d]) = (kind, data) {
            return Some(Said::Address(Ipv4Addr::new(*a, *b, *c, *d)));
        }
        at += 10 + length;
    }
    Some(Said::NoSuchName)
}

/// Returns where a name ends: at its last label, or at a reference to another.
fn after_name(packet: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *packet.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pod_is_told_is_read() {
        let text = "search demo.svc.cluster.local svc.cluster.local\n\
                    nameserver 10.96.0.10\noptions ndots:5\n";
        let settings = Settings::read(text);
        assert_eq!(settings.servers, [IpAddr::from([10, 96, 0, 10])]);
        assert_eq!(settings.ndots, 5);
        let names = settings.candidates("example.com");
        assert_eq!(names.last().map(String::as_str), Some("example.com"));
        assert_eq!(names[0], "example.com.demo.svc.cluster.local");
        assert_eq!(settings.candidates("a.b.c.d.e.f")[0], "a.b.c.d.e.f");
        assert_eq!(settings.candidates("example.com."), ["example.com"]);
    }

    #[test]
    fn questions_and_answers_are_as_the_protocol_has_them() {
        let asked = question(0x1234, "ab.c").unwrap();
        assert_eq!(asked[..2], [0x12, 0x34]);
        assert_eq!(asked[12..], *b"\x02ab\x01c\0\0\x01\0\x01");
        assert!(question(1, "a..b").is_err());
        // The question, an alias, and the address behind it.
        let mut answer = vec![0x12, 0x34, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0];
        answer.extend_from_slice(&asked[12..]);
        answer.extend_from_slice(b"\xc0\x0c\0\x05\0\x01\0\0\0\x05\0\x04\x01x\xc0\x0c");
        answer.extend_from_slice(b"\xc0\x20\0\x01\0\x01\0\0\0\x05\0\x04\x0a\0\0\x07");
        assert_eq!(read_answer(0x1234, &answer), Some(Said::Address([10, 0, 0, 7].into())));
        assert_eq!(read_answer(0x1235, &answer), None);
        answer[3] = 0x83;
        assert_eq!(read_answer(0x1234, &answer), Some(Said::NoSuchName));
        answer[3] = 0x82;
        assert_eq!(read_answer(0x1234, &answer), Some(Said::Failed(2)));
    }

    #[test]
    fn no_answer_breaks_the_reader() {
        let asked = question(7, "example.com").unwrap();
        let mut answer = vec![0, 7, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
        answer.extend_from_slice(&asked[12..]);
        answer.extend_from_slice(b"\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04\x0a\0\0\x07");
        for length in 0..answer.len() {
            assert_eq!(read_answer(7, &answer[..length]), None, "{length}");
        }
        assert_eq!(read_answer(7, &answer), Some(Said::Address([10, 0, 0, 7].into())));
    }
}
