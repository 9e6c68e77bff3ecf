//! What a probe is made of, and where it goes: an image and an address.

use std::fmt;

use serde::{Serialize, Serializer};

use super::{Complaint, Format, Json, Scalar};

/// A container image, by tag, by digest or by both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ImageName(String);

/// What pods must reach outside the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Egress {
    /// Nothing.
    None,
    /// A page of a server that everybody may ask.
    Page {
        /// The server: a name proves the names of the world, too.
        host: String,
        /// Its port.
        port: u16,
        /// The page, without the first `/`.
        path: String,
    },
}

super::format::text_of!(ImageName);

impl ImageName {
    /// Its tag, where it has one.
    pub fn tag(&self) -> Option<&str> {
        let named = self.0.split('@').next()?;
        // A registry may have a port.
        named.split_once('/')?.1.split_once(':').map(|(_, tag)| tag)
    }
}

impl Scalar for ImageName {
    const FORMAT: Format = Format {
        name: "an image",
        example: "`registry.example.com/probe@sha256:…` or `registry.example.com/probe:1.2`",
        json: Json::Text {
            pattern: r"^[a-zA-Z0-9][-._a-zA-Z0-9]*(:[0-9]+)?(/[a-z0-9][-._a-z0-9]*)+(:[_a-zA-Z0-9][-._a-zA-Z0-9]{0,127})?(@sha256:[0-9a-f]{64})?$",
        },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        let expected = || Complaint::label(Self::FORMAT.expected());
        let (named, digest) = text.split_once('@').map_or((text, None), |(a, b)| (a, Some(b)));
        if let Some(digest) = digest {
            check_digest(digest)?;
        }
        let (registry, rest) = named.split_once('/').ok_or_else(|| {
            Complaint::label("the registry is missing, such as `docker.io/library/`")
        })?;
        let (path, tag) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
        if tag.is_none() && digest.is_none() {
            return Err(Complaint::label("a tag or a digest is missing: what runs would change"));
        }
        let (host, port) = registry.split_once(':').map_or((registry, "1"), |(a, b)| (a, b));
        let is_port = !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit());
        let has_path = path
            .split('/')
            .all(|part| is_word(part) && !part.bytes().any(|letter| letter.is_ascii_uppercase()));
        let has_tag =
            tag.is_none_or(|tag| tag.len() <= 128 && is_word(tag.trim_start_matches('_')));
        if is_word(host) && is_port && has_path && has_tag {
            Ok(Self(text.to_owned()))
        } else {
            Err(expected())
        }
    }

    fn stand_in() -> Self {
        Self("localhost/image:1".to_owned())
    }
}

fn check_digest(digest: &str) -> Result<(), Complaint> {
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if hex.len() == 64 && hex.bytes().all(is_hex) {
        Ok(())
    } else {
        Err(Complaint::label("a digest is `sha256:` and 64 hexadecimal digits"))
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

impl Scalar for Egress {
    const FORMAT: Format = Format {
        name: "an http address",
        example: "`http://example.com/index.html`, or `none`",
        json: Json::Text { pattern: r"^(none|http://[^\s/:@?#]+(:[0-9]{1,5})?(/[^\s?#]*)?)$" },
    };

    fn read(text: &str) -> Result<Self, Complaint> {
        if text == "none" {
            return Ok(Self::None);
        }
        if text.starts_with("https://") {
            let label = "expected `http://`: probe pods have no certificates to trust";
            return Err(Complaint::label(label));
        }
        Self::page(text).ok_or_else(|| Complaint::label(Self::FORMAT.expected()))
    }

    fn stand_in() -> Self {
        Self::None
    }
}

impl Egress {
    fn page(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("http://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = authority.split_once(':').unwrap_or((authority, "80"));
        let port = port.parse().ok().filter(|port| *port > 0)?;
        let plain = |text: &str| !text.contains(|c: char| c.is_whitespace() || "?#@[]".contains(c));
        let is_host = !host.is_empty() && is_word(host);
        (is_host && plain(path)).then(|| Self::Page {
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        })
    }
}

impl Default for Egress {
    fn default() -> Self {
        let (host, path) = ("example.com".to_owned(), "index.html".to_owned());
        Self::Page { host, port: 80, path }
    }
}

impl fmt::Display for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Page { host, port: 80, path } => write!(f, "http://{host}/{path}"),
            Self::Page { host, port, path } => write!(f, "http://{host}:{port}/{path}"),
        }
    }
}

impl Serialize for Egress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for good in [
            "registry.k8s.io/e2e-test-images/agnhost:2.57",
            "localhost:5000/probe:_1",
            &format!("ghcr.io/a/b@{digest}"),
            &format!("ghcr.io/a/b:1.0@{digest}"),
        ] {
            assert!(ImageName::read(good).is_ok(), "{good}");
        }
        for (bad, label) in [
            ("busybox:1", "the registry is missing, such as `docker.io/library/`"),
            ("ghcr.io/a/b", "a tag or a digest is missing: what runs would change"),
            ("ghcr.io/a/b@sha256:12", "a digest is `sha256:` and 64 hexadecimal digits"),
            ("ghcr.io/A/b:1", &ImageName::FORMAT.expected()),
            ("ghcr.io:x/a:1", &ImageName::FORMAT.expected()),
            ("ghcr.io/a//b:1", &ImageName::FORMAT.expected()),
        ] {
            assert_eq!(ImageName::read(bad).expect_err(bad).label, label, "{bad}");
        }
    }

    #[test]
    fn egress() {
        let page = |host: &str, port, path: &str| Egress::Page {
            host: host.to_owned(),
            port,
            path: path.to_owned(),
        };
        for (text, meant) in [
            ("none", Egress::None),
            ("http://example.com", page("example.com", 80, "")),
            ("http://10.5.0.1:8080/a/b", page("10.5.0.1", 8080, "a/b")),
        ] {
            assert_eq!(Egress::read(text).ok(), Some(meant), "{text}");
        }
        assert_eq!(Egress::default().to_string(), "http://example.com/index.html");
        for bad in ["https://example.com", "example.com", "http://", "http://a:0/", "http://a/?b"] {
            assert!(Egress::read(bad).is_err(), "{bad}");
        }
    }
}
