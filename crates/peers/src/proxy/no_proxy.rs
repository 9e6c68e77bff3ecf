//! The exceptions of `NO_PROXY`.

use std::net::IpAddr;

use ipnet::IpNet;

/// Servers that are dialled directly.
#[derive(Clone, Debug, Default)]
pub(super) struct NoProxy {
    everything: bool,
    networks: Vec<IpNet>,
    addresses: Vec<(IpAddr, Option<u16>)>,
    domains: Vec<Domain>,
}

#[derive(Clone, Debug)]
struct Domain {
    /// With a leading dot.
    suffix: String,
    /// Whether the domain itself is meant, beside those below it.
    itself: bool,
    port: Option<u16>,
}

impl NoProxy {
    /// Reads a list such as `10.0.0.0/8,.corp,host:8443`. What cannot be read is
    /// passed over, as Go does.
    pub(super) fn parse(list: &str) -> Self {
        let mut rules = Self::default();
        for entry in list.split(',').map(|entry| entry.trim().to_ascii_lowercase()) {
            rules.add(&entry);
        }
        rules
    }

    fn add(&mut self, entry: &str) {
        if entry == "*" {
            self.everything = true;
        }
        if let Ok(network) = entry.parse() {
            self.networks.push(network);
            return;
        }
        let (host, port) = split_port(entry);
        if let Ok(address) = host.parse() {
            self.addresses.push((address, port));
            return;
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        match host.strip_prefix('.') {
            Some("") => {}
            Some(_) => self.domains.push(Domain { suffix: host.to_owned(), itself: false, port }),
            None if host.is_empty() => {}
            None => self.domains.push(Domain { suffix: format!(".{host}"), itself: true, port }),
        }
    }

    /// Returns whether a server may be reached through a proxy.
    pub(super) fn allows_proxy(&self, host: &str, port: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        if self.everything || host == "localhost" {
            return false;
        }
        if let Ok(address) = host.parse::<IpAddr>() {
            let address = address.to_canonical();
            let listed = self.addresses.iter().any(|(listed, of)| {
                listed.to_canonical() == address && of.is_none_or(|of| of == port)
            });
            let within = self.networks.iter().any(|network| network.contains(&address));
            return !address.is_loopback() && !listed && !within;
        }
        !self.domains.iter().any(|domain| domain.matches(&host, port))
    }
}

impl Domain {
    fn matches(&self, host: &str, port: u16) -> bool {
        let named = host.ends_with(&self.suffix) || (self.itself && host == &self.suffix[1..]);
        named && self.port.is_none_or(|of| of == port)
    }
}

/// Splits `host:port`, `[address]:port`, and leaves an address of colons whole.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|it| it.split_once(']')) {
        return (address, rest.strip_prefix(':').and_then(|port| port.parse().ok()));
    }
    match entry.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') => (host, port.parse().ok()),
        _ => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases of Go's own tests of `httpproxy`, and some of ours.
    #[test]
    fn exceptions_follow_gos_rules() {
        let list = "foo.com, .barbaz.net, *.wild.org, 192.168.1.1, 192.168.1.2:81, \
            10.0.0.0/30, 2001:db8::52:0:1, [2001:db8::52:0:2]:443, 2001:db8:a0b::/64, :99, with.port:81";
        let rules = NoProxy::parse(list);
        for (host, port, proxied) in [
            ("localhost", 80, false),
            ("127.0.0.1", 80, false),
            ("127.0.0.2", 80, false),
            ("[::1]", 80, false),
            ("[::2]", 80, true),
            ("192.168.1.1", 80, false),
            ("192.168.1.2", 80, true),
            ("192.168.1.2", 81, false),
            ("192.168.1.3", 80, true),
            ("10.0.0.2", 80, false),
            ("10.0.0.4", 80, true),
            ("[2001:db8::52:0:1]", 80, false),
            ("[2001:db8::52:0:2]", 443, false),
            ("[2001:db8::52:0:2]", 80, true),
            ("[2001:db8:a0b::7]", 80, false),
            ("foo.com", 80, false),
            ("www.FOO.com", 80, false),
            ("foofoo.com", 80, true),
            ("barbaz.net", 80, true),
            ("www.barbaz.net", 80, false),
            ("wild.org", 80, true),
            ("a.wild.org", 80, false),
            ("with.port", 80, true),
            ("with.port", 81, false),
        ] {
            assert_eq!(rules.allows_proxy(host, port), proxied, "{host}:{port}");
        }
        assert!(!NoProxy::parse("x, *").allows_proxy("foo.com", 80));
        assert!(NoProxy::parse("").allows_proxy("foo.com", 80));
    }
}
