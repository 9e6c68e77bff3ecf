//! Which proxy leads to a server, by the rules of Go's `httpproxy`, which
//! kubectl follows.
//!
//! - `HTTPS_PROXY` counts for https, `HTTP_PROXY` for http; the upper case wins.
//! - `localhost` and loopback addresses are never proxied by these variables.
//! - `NO_PROXY` lists exceptions ([`NoProxy`]).
//! - `proxy-url` of a kubeconfig counts for its cluster whatever they say.

pub(crate) mod connect;
mod no_proxy;
pub(crate) mod socks;

use std::fmt;
use std::sync::Arc;

use events::Secret;
use http::Uri;
use percent_encoding::percent_decode_str;

use no_proxy::NoProxy;

/// A proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    pub(crate) protocol: Protocol,
    host: String,
    port: u16,
    pub(crate) login: Option<Login>,
}

/// What is spoken with a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// HTTP with `CONNECT`, without TLS to the proxy itself.
    Http,
    /// SOCKS5; the proxy resolves names.
    Socks5,
}

/// Who we are to a proxy.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

/// The variables that name proxies, as they stand in the environment.
#[derive(Clone, Debug, Default)]
pub struct ProxyVariables {
    /// `HTTPS_PROXY` or `https_proxy`.
    pub https: Option<String>,
    /// `HTTP_PROXY` or `http_proxy`.
    pub http: Option<String>,
    /// `NO_PROXY` or `no_proxy`.
    pub no: Option<String>,
}

/// The proxies of the environment.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    https: Option<Proxy>,
    http: Option<Proxy>,
    exceptions: NoProxy,
}

/// How a client finds its way.
#[derive(Clone, Debug, Default)]
pub enum Route {
    /// Without a proxy.
    #[default]
    Direct,
    /// Through the proxies of the environment, by its rules.
    Environment(Arc<Proxies>),
    /// Always through this one.
    Through(Proxy),
}

/// A text that names no proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not the URL of a proxy: {reason}; write http://HOST:PORT or socks5://HOST:PORT")]
pub struct NotAProxy {
    name: String,
    reason: &'static str,
}

// === impl Proxies ===

impl Proxies {
    /// Reads the variables.
    pub fn of(variables: &ProxyVariables) -> Result<Self, NotAProxy> {
        let read = |name: &str, text: &Option<String>| {
            let text = text.as_deref().map(str::trim).filter(|text| !text.is_empty());
            text.map(|text| Proxy::parse(name, text)).transpose()
        };
        Ok(Self {
            https: read("HTTPS_PROXY", &variables.https)?,
            http: read("HTTP_PROXY", &variables.http)?,
            exceptions: NoProxy::parse(variables.no.as_deref().unwrap_or_default()),
        })
    }

    /// Returns the proxy for a server.
    fn to(&self, https: bool, host: &str, port: u16) -> Option<&Proxy> {
        let proxy = if https { self.https.as_ref() } else { self.http.as_ref() };
        proxy.filter(|_| self.exceptions.allows_proxy(host, port))
    }

    /// Returns what must not be shown.
    pub fn secrets(&self) -> impl Iterator<Item = Secret> + '_ {
        self.https.iter().chain(&self.http).filter_map(Proxy::secret)
    }
}

// === impl Route ===

impl Route {
    /// Returns what must not be shown.
    pub fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Direct => Vec::new(),
            Self::Environment(proxies) => proxies.secrets().collect(),
            Self::Through(proxy) => proxy.secret().into_iter().collect(),
        }
    }

    /// Returns the proxy for a server; none where it is dialled directly.
    pub(crate) fn to(&self, https: bool, host: &str, port: u16) -> Option<&Proxy> {
        match self {
            Self::Direct => None,
            Self::Environment(proxies) => proxies.to(https, host, port),
            Self::Through(proxy) => Some(proxy),
        }
    }
}

// === impl Proxy ===

impl Proxy {
    /// Reads a URL; `name` says where it stands.
    pub fn parse(name: &str, text: &str) -> Result<Self, NotAProxy> {
        let wrong = |reason| NotAProxy { name: name.to_owned(), reason };
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let uri: Uri = whole.parse().map_err(|_| wrong("it cannot be read"))?;
        let (protocol, usual) = match uri.scheme_str() {
            Some("http") => (Protocol::Http, 80),
            Some("socks5" | "socks5h") => (Protocol::Socks5, 1080),
            Some("https") => return Err(wrong("TLS to the proxy itself is not supported yet")),
            _ => return Err(wrong("its scheme is not supported")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("no host"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let info = uri.authority().and_then(|it| it.as_str().rsplit_once('@'));
        let login = info.map(|(info, _)| Login::read(info));
        Ok(Self { protocol, host, port: uri.port_u16().unwrap_or(usual), login })
    }

    /// Returns host and port, as messages name it.
    pub(crate) fn place(&self) -> String {
        place(&self.host, self.port)
    }

    pub(crate) fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Returns its password.
    pub fn secret(&self) -> Option<Secret> {
        let login = self.login.as_ref()?;
        let secret = if login.password.is_empty() { &login.user } else { &login.password };
        Some(Secret::new(secret.as_str()))
    }
}

impl Login {
    fn read(info: &str) -> Self {
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = info.split_once(':').unwrap_or((info, ""));
        Self { user: decode(user), password: decode(password) }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.place())
    }
}

/// Returns host and port as URLs have them.
pub(crate) fn place(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(https: &str, no: &str) -> Proxies {
        let variables =
            ProxyVariables { https: Some(https.into()), http: None, no: Some(no.into()) };
        Proxies::of(&variables).unwrap()
    }

    #[test]
    fn proxies_are_read_as_curl_reads_them() {
        let read = |text: &str| Proxy::parse("HTTPS_PROXY", text).unwrap();
        assert_eq!(read("proxy.corp:3128").place(), "proxy.corp:3128");
        assert_eq!(read("http://proxy.corp").place(), "proxy.corp:80");
        assert_eq!(read("socks5://[fd00::1]").place(), "[fd00::1]:1080");
        let login = read("http://bob:p%40ss@proxy.corp:1").login.unwrap();
        assert_eq!((login.user.as_str(), login.password.as_str()), ("bob", "p@ss"));
        for wrong in ["https://proxy", "ftp://proxy", "http://", "http://bob:hunter22@:x"] {
            let error = Proxy::parse("HTTPS_PROXY", wrong).unwrap_err().to_string();
            assert!(error.starts_with("HTTPS_PROXY is not the URL of a proxy: "), "{error}");
            assert!(!error.contains("hunter22"), "{error}");
        }
    }

    #[test]
    fn a_proxy_never_shows_its_password() {
        let shown = format!("{:?}", proxies("http://bob:hunter22@proxy:1", ""));
        assert!(shown.contains("proxy:1") && !shown.contains("hunter22"), "{shown}");
    }

    #[test]
    fn variables_count_for_their_scheme_and_a_kubeconfig_for_everything() {
        let all = proxies("proxy:1", "");
        assert!(all.to(true, "api.example", 6443).is_some());
        assert!(all.to(false, "api.example", 80).is_none());
        assert!(all.to(true, "127.0.0.1", 6443).is_none());
        let through = Route::Through(Proxy::parse("proxy-url", "proxy:1").unwrap());
        assert!(through.to(true, "127.0.0.1", 6443).is_some());
    }
}
