//! Where a node or an API is, as people write it.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use ::talos::client::Node;

/// A host and a port, such as `10.0.0.5`, `cp-1.example:50001` or `[fd00::5]:1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// As it was written.
    pub(crate) written: String,
    /// A name or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Place {
    /// Reads a place whose port need not be written.
    pub(crate) fn read(written: &str, usual: u16) -> Result<Self, String> {
        if written.contains('/') {
            return Err("it is not a name or an address; leave the rest of the URL out".to_owned());
        }
        if written.contains(char::is_whitespace) {
            return Err("no name and no address has a blank".to_owned());
        }
        let (host, port) = parts(written)?;
        if host.is_empty() {
            return Err("it names no host".to_owned());
        }
        // A zone, such as `%eth0`, is for the system to know.
        let address = host.split_once('%').map_or(host, |(address, _)| address);
        if host.contains(':') && address.parse::<Ipv6Addr>().is_err() {
            return Err(format!(
                "`{address}` is not an address; a port is written `[ADDRESS]:PORT`"
            ));
        }
        let port = port.map_or(Ok(usual), |port| match port.parse() {
            Ok(0) | Err(_) => Err(format!("`{port}` is not a port")),
            Ok(port) => Ok(port),
        })?;
        Ok(Self { written: written.to_owned(), host: host.to_owned(), port })
    }

    /// The Talos API at an address.
    pub(crate) fn at(address: IpAddr) -> Self {
        let host = address.to_string();
        Self { written: host.clone(), host, port: Node::PORT }
    }

    /// Returns host and port as URLs have them.
    pub(crate) fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }

    /// Asks for its address, and waits no longer than `within`. A name is then
    /// still asked for by a thread that nobody can stop: the runtime is not to
    /// be waited for either.
    pub(crate) async fn resolve(&self, within: Duration) -> Result<SocketAddr, String> {
        let asked = tokio::net::lookup_host((self.host.as_str(), self.port));
        match tokio::time::timeout(within, asked).await {
            Ok(Ok(mut found)) => found.next().ok_or_else(|| "the name has no address".to_owned()),
            Ok(Err(error)) => Err(format!("the name cannot be resolved: {error}")),
            Err(_) => Err("the name was not resolved in time".to_owned()),
        }
    }

    /// Returns it as an endpoint of a talosconfig, which says no usual port.
    pub(crate) fn endpoint(&self) -> String {
        if self.port == Node::PORT { self.host.clone() } else { self.authority() }
    }
}

/// A place of the Talos API.
impl FromStr for Place {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        Self::read(written, Node::PORT)
    }
}

/// Tells host and port apart: an address of colons has a port only behind
/// brackets.
fn parts(written: &str) -> Result<(&str, Option<&str>), String> {
    if let Some(bracketed) = written.strip_prefix('[') {
        let (host, rest) = bracketed.split_once(']').ok_or("its bracket is never closed")?;
        return match rest.strip_prefix(':') {
            None if !rest.is_empty() => Err(format!("`{rest}` is not a port")),
            port => Ok((host, port)),
        };
    }
    Ok(match written.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (written, None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Place>().map(|place| (place.host, place.port));
        let is = |host: &str, port| Ok((host.to_owned(), port));
        assert_eq!(read("10.0.0.5"), is("10.0.0.5", 50000));
        assert_eq!(read("10.0.0.5:50001"), is("10.0.0.5", 50001));
        assert_eq!(read("fd00::5"), is("fd00::5", 50000));
        assert_eq!(read("[fd00::5]"), is("fd00::5", 50000));
        assert_eq!(read("[fd00::5]:1"), is("fd00::5", 1));
        assert_eq!(read("fe80::5%eth0"), is("fe80::5%eth0", 50000));
        assert_eq!(read("cp-1.example:9"), is("cp-1.example", 9));
        assert_eq!(read("cp-1"), is("cp-1", 50000));
    }

    /// A name is asked for in a thread: where all of them are busy, it never is.
    #[test]
    fn a_name_is_waited_for_as_long_as_said() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().max_blocking_threads(1).build().unwrap();
        let (end, until) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || until.recv());
        let resolve = |text: &str| {
            let place: Place = text.parse().unwrap();
            let resolved = runtime.block_on(place.resolve(Duration::from_millis(1)));
            resolved.map(|it| it.to_string())
        };
        assert_eq!(resolve("10.0.0.5:1"), Ok("10.0.0.5:1".to_owned()));
        assert_eq!(resolve("[fd00::5]"), Ok("[fd00::5]:50000".to_owned()));
        assert_eq!(resolve("localhost"), Err("the name was not resolved in time".to_owned()));
        drop(end);
    }

    #[test]
    fn what_is_no_place_is_told_why() {
        for (text, why) in [
            ("cp-1:x", "`x` is not a port"),
            ("cp-1:", "`` is not a port"),
            ("cp-1:0", "`0` is not a port"),
            ("cp-1:99999", "`99999` is not a port"),
            ("[fd00::5]x", "`x` is not a port"),
            ("[fd00::5", "its bracket is never closed"),
            ("fd00::zz:1", "`fd00::zz:1` is not an address; a port is written `[ADDRESS]:PORT`"),
            (":5", "it names no host"),
            ("", "it names no host"),
            ("a b", "no name and no address has a blank"),
            ("https://cp-1", "it is not a name or an address; leave the rest of the URL out"),
            ("10.0.0.0/24", "it is not a name or an address; leave the rest of the URL out"),
        ] {
            assert_eq!(text.parse::<Place>(), Err(why.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_port_is_said_where_it_is_not_the_usual_one() {
        for (text, endpoint) in [
            ("10.0.0.5:50000", "10.0.0.5"),
            ("10.0.0.5:1", "10.0.0.5:1"),
            ("[fd00::5]", "fd00::5"),
            ("[fd00::5]:1", "[fd00::5]:1"),
        ] {
            assert_eq!(text.parse::<Place>().unwrap().endpoint(), endpoint);
        }
    }
}
