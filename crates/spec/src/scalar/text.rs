//! Text with a shape: paths, addresses of services, extensions.

use serde::Serialize;

use super::{Complaint, Format, Json, Scalar};

/// Any text but the empty one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(String);

/// A path, relative to the cluster file unless absolute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FilePath(String);

/// An `https://` address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HttpsUrl(String);

/// The address of a service: `https://`, a host, and a port where it is not 443.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ServiceUrl(String);

/// An `https://` or `http://` address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct HttpUrl(String);

/// The address of a git repository: `ssh://` or `https://`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct GitUrl(String);

/// A Talos system extension such as `siderolabs/qemu-guest-agent`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Extension(String);

super::format::text_of!(Text, FilePath, HttpsUrl, ServiceUrl, HttpUrl, GitUrl, Extension);

impl GitUrl {
    /// Whether it is reached over SSH.
    pub fn is_ssh(&self) -> bool {
        self.0.starts_with("ssh://")
    }

    /// The host it names.
    pub fn host(&self) -> &str {
        host_of(&self.0)
    }

    /// Reads the address of a repository, for flags and questions.
    pub fn parse(text: &str) -> Result<Self, String> {
        <Self as Scalar>::read(text).map_err(|complaint| complaint.label)
    }
}

impl Scalar for Text {
    const FORMAT: Format =
        Format { name: "text", example: "", json: Json::Text { pattern: r"\S" } };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text.trim().is_empty() {
            return Err(Complaint::new("empty text", "expected some text"));
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("text".to_owned())
    }
}

impl Scalar for FilePath {
    const FORMAT: Format = Format {
        name: "a path",
        example: "`values/cilium.yaml`",
        json: Json::Text { pattern: r"^\S(.*\S)?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text.is_empty() || text.trim() != text || text.contains(['\0', '\n']) {
            return Err(Complaint::label(Self::FORMAT.expected()));
        }
        if text.starts_with('~') {
            return Err(Complaint::label(
                "`~` is not expanded; use a path relative to this file, or an absolute one",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("file".to_owned())
    }
}

impl Scalar for HttpsUrl {
    const FORMAT: Format = Format {
        name: "an https address",
        example: "`https://pve.example.com:8006`",
        json: Json::Text { pattern: r"^https://[^\s/]+(/\S*)?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text.starts_with("http://") {
            return Err(Complaint::label("expected `https://`: a token goes this way"));
        }
        check_url(text, &["https://"], Self::FORMAT)?;
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("https://localhost".to_owned())
    }
}

impl Scalar for ServiceUrl {
    const FORMAT: Format = Format {
        name: "the address of an API",
        example: "`https://pve.example.com:8006`",
        json: Json::Text {
            pattern: r"^https://(\[[0-9A-Fa-f:.]+\]|[^\s/?#@:\[\]]+)(:[0-9]{1,5})?/?$",
        },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        HttpsUrl::read(text).map_err(|complaint| match complaint.message {
            None if !text.starts_with("http://") => Complaint::label(Self::FORMAT.expected()),
            _ => complaint,
        })?;
        let url = text.strip_suffix('/').unwrap_or(text);
        let authority = url.trim_start_matches("https://");
        if let Some(end) = authority.find(['/', '?', '#']) {
            let rest = super::shortened(&authority[end..]);
            return Err(Complaint::label(format!(
                "remove `{rest}`: only `https://`, host and port stand here"
            )));
        }
        if let Some((user, _)) = authority.split_once('@') {
            let label = format!("remove `{user}@`: the token comes from the environment");
            return Err(Complaint::label(label));
        }
        check_authority(authority)?;
        Ok(Self(url.to_owned()))
    }

    fn stand_in() -> Self {
        Self("https://localhost".to_owned())
    }
}

/// Checks `host`, `host:port`, `[address]` or `[address]:port`.
fn check_authority(authority: &str) -> Result<(), Complaint> {
    let expected = || Complaint::label(ServiceUrl::FORMAT.expected());
    let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (is_host, port) = if let Some((address, port)) = bracketed {
        (address.parse::<std::net::Ipv6Addr>().is_ok(), port)
    } else {
        let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
        (!host.is_empty() && !host.contains(['[', ']']), port)
    };
    if !is_host {
        return Err(expected());
    }
    if port.is_empty() { Ok(()) } else { check_port(port).ok_or_else(expected)? }
}

/// Checks `:port`; `None` if it is no number at all.
fn check_port(port: &str) -> Option<Result<(), Complaint>> {
    let digits = port.strip_prefix(':').filter(|digits| !digits.is_empty())?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| match digits.parse::<u16>() {
        Ok(1..) if digits.len() <= 5 => Ok(()),
        _ => Err(Complaint::label("a port is a number from 1 to 65535")),
    })
}

impl Scalar for HttpUrl {
    const FORMAT: Format = Format {
        name: "an http or https address",
        example: "`https://mirror.example.com`",
        json: Json::Text { pattern: r"^https?://[^\s/]+(/\S*)?$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        check_url(text, &["https://", "http://"], Self::FORMAT)?;
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("https://localhost".to_owned())
    }
}

impl Scalar for GitUrl {
    const FORMAT: Format = Format {
        name: "the address of a git repository",
        example: "`ssh://git@example.com/fleet` or `https://example.com/fleet.git`",
        json: Json::Text { pattern: r"^(ssh|https)://[^\s/]+/\S+$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if let Some(fixed) = from_scp_form(text) {
            return Err(Complaint::label(format!("write it as `{fixed}`")));
        }
        if text.starts_with("http://") {
            return Err(Complaint::label(
                "expected `https://` or `ssh://`: credentials go this way",
            ));
        }
        let path = check_url(text, &["ssh://", "https://"], Self::FORMAT)?;
        if path.is_empty() {
            return Err(Complaint::label("the path of the repository is missing"));
        }
        Ok(Self(text.to_owned()))
    }

    fn stand_in() -> Self {
        Self("https://localhost/fleet".to_owned())
    }
}

/// `git@host:path`, as git itself takes it but Flux does not, in the form that both take.
fn from_scp_form(text: &str) -> Option<String> {
    let (head, path) = text.split_once(':')?;
    let (user, host) = head.split_once('@')?;
    let plain = !path.starts_with('/') && !head.contains('/');
    plain.then(|| format!("ssh://{user}@{host}/{path}"))
}

/// Checks scheme, host and credentials, and returns the path without its first `/`.
fn check_url<'a>(text: &'a str, schemes: &[&str], format: Format) -> Result<&'a str, Complaint> {
    let expected = || Complaint::label(format.expected());
    let scheme = schemes.iter().find(|scheme| text.starts_with(**scheme)).ok_or_else(expected)?;
    let rest = &text[scheme.len()..];
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() || host_of(text).is_empty() || text.contains(char::is_whitespace) {
        return Err(expected());
    }
    if authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':')) {
        return Err(Complaint::new("the address carries a password", "remove the password")
            .note("secrets come from the environment or a file, never from the cluster file"));
    }
    Ok(path)
}

fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

impl Scalar for Extension {
    const FORMAT: Format = Format {
        name: "a system extension",
        example: "`siderolabs/qemu-guest-agent`",
        json: Json::Text { pattern: "^[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let well_formed = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && part.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '-' | '.'))
        };
        match text.split_once('/') {
            Some((owner, name))
                if well_formed(owner) && well_formed(name) && !owner.contains('.') =>
            {
                Ok(Self(text.to_owned()))
            }
            None if well_formed(text) => {
                Err(Complaint::label(format!("the owner is missing: `siderolabs/{text}`?")))
            }
            _ => Err(Complaint::label(Self::FORMAT.expected())),
        }
    }

    fn stand_in() -> Self {
        Self("siderolabs/extension".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_addresses() {
        assert!(GitUrl::parse("ssh://git@example.com/fleet").expect("a URL").is_ssh());
        assert_eq!(
            GitUrl::parse("ssh://git@example.com:2222/f").expect("a URL").host(),
            "example.com"
        );
        for (text, label) in [
            ("git@example.com:me/fleet", "write it as `ssh://git@example.com/me/fleet`"),
            (
                "http://example.com/fleet",
                "expected `https://` or `ssh://`: credentials go this way",
            ),
            ("https://example.com", "the path of the repository is missing"),
            ("https://me:pw@example.com/fleet", "remove the password"),
            (
                "https:///fleet",
                "expected the address of a git repository, such as `ssh://git@example.com/fleet` or `https://example.com/fleet.git`",
            ),
        ] {
            assert_eq!(GitUrl::parse(text), Err(label.to_owned()), "{text}");
        }
    }

    #[test]
    fn services() {
        for (text, url) in [
            ("https://pve.example.com:8006", "https://pve.example.com:8006"),
            ("https://pve.example.com:8006/", "https://pve.example.com:8006"),
            ("https://192.0.2.7", "https://192.0.2.7"),
            ("https://[fd00::7]:8006", "https://[fd00::7]:8006"),
        ] {
            assert_eq!(ServiceUrl::read(text).map(|it| it.0).ok().as_deref(), Some(url), "{text}");
        }
        let expected =
            "expected the address of an API, such as `https://pve.example.com:8006`".to_owned();
        let without = |rest| format!("remove `{rest}`: only `https://`, host and port stand here");
        for (text, label) in [
            ("https://pve:8006/api2/json", without("/api2/json")),
            ("https://pve:8006/#v1:0", without("/#v1:0")),
            ("https://pve:8006?a=b", without("?a=b")),
            ("https://pve:80060", "a port is a number from 1 to 65535".to_owned()),
            ("https://pve:0", "a port is a number from 1 to 65535".to_owned()),
            ("https://pve:", expected.clone()),
            ("https://pve:https", expected.clone()),
            ("https://[fd00::7", expected.clone()),
            ("https://[pve]:8006", expected.clone()),
            ("https://fd00::7", expected.clone()),
            ("pve:8006", expected),
            (
                "https://root@pve:8006",
                "remove `root@`: the token comes from the environment".into(),
            ),
            ("https://root:pw@pve:8006", "remove the password".to_owned()),
            ("http://pve:8006", "expected `https://`: a token goes this way".to_owned()),
        ] {
            assert_eq!(ServiceUrl::read(text).map_err(|it| it.label), Err(label), "{text}");
        }
    }

    #[test]
    fn extensions() {
        assert!(Extension::read("siderolabs/qemu-guest-agent").is_ok());
        assert_eq!(
            Extension::read("qemu-guest-agent").expect_err("refused").label,
            "the owner is missing: `siderolabs/qemu-guest-agent`?"
        );
        assert!(Extension::read("a/b/c").is_err());
    }
}
