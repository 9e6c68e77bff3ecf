//! What is shown to the API: a token, a user and password, or a certificate.
//!
//! The client library would read token files and run plugins by itself, without
//! bounds, and panics on a token that cannot stand in a header. So it is given
//! none of them: the header is made here and sent with every request.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use events::{Clock, Secret, io_reason};
use http::HeaderValue;
use jiff::Timestamp;
use kube::config::{AuthInfo, AuthProviderConfig, ExecConfig};
use peers::bounds;
use secrecy::ExposeSecret as _;

use super::plugin;
use crate::NoCredential;

/// A credential is fetched anew this long before it ends.
const EARLIER: Duration = Duration::from_mins(1);

/// A token file is read again after this long, as client-go does.
const FILE_LIFETIME: Duration = Duration::from_mins(1);

/// Where a credential comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// There is none beside the certificate of the kubeconfig.
    Nothing,
    /// It stands in the kubeconfig.
    Token(Secret),
    /// A user and a password.
    Basic(String, Secret),
    /// A file that somebody else writes anew.
    File(PathBuf),
    /// A credential plugin.
    Plugin(Box<ExecConfig>),
}

/// What is shown to the API.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credential {
    /// The value of `Authorization`.
    pub(crate) authorization: Option<HeaderValue>,
    /// A certificate and its key, as PEM.
    pub(crate) identity: Option<(String, Secret)>,
    /// What must not be shown to anybody else.
    pub(crate) secrets: Vec<Secret>,
    ends: Option<Timestamp>,
    /// Whether it is still good where no other is to be had.
    lasts: bool,
}

// === impl Source ===

impl Source {
    /// Takes the credential out of a user, so that the client library has none.
    pub(crate) fn take(user: &mut AuthInfo) -> Result<Self, NoCredential> {
        let provider = user.auth_provider.take();
        let (name, password) = (user.username.take(), user.password.take());
        let (token, file) = (user.token.take(), user.token_file.take());
        let exec = user.exec.take();
        if let Some(provider) = provider {
            return of_provider(&provider);
        }
        if let (Some(name), Some(password)) = (name, password) {
            return Ok(Self::Basic(name, Secret::new(password.expose_secret())));
        }
        if let Some(token) = token {
            return Ok(Self::Token(Secret::new(token.expose_secret())));
        }
        if let Some(file) = file {
            return Ok(Self::File(file.into()));
        }
        Ok(exec.map_or(Self::Nothing, |exec| Self::Plugin(Box::new(exec))))
    }

    /// Returns whether another credential may come from where the first one did.
    pub(crate) fn renews(&self) -> bool {
        matches!(self, Self::File(_) | Self::Plugin(_))
    }

    /// Returns what is known to be secret before anything is fetched.
    pub(crate) fn secrets(&self) -> Option<Secret> {
        match self {
            Self::Token(secret) | Self::Basic(_, secret) => Some(secret.clone()),
            Self::Nothing | Self::File(_) | Self::Plugin(_) => None,
        }
    }

    /// Fetches the credential, within a time.
    pub(crate) async fn fetch(
        &self,
        clock: &Clock,
        within: Option<Duration>,
    ) -> Result<Credential, NoCredential> {
        match self {
            Self::Nothing => Ok(Credential::default()),
            Self::Token(token) => bearer(token.reveal(), "the token of the kubeconfig"),
            Self::Basic(user, password) => {
                let pair = STANDARD.encode(format!("{user}:{}", password.reveal()));
                Ok(Credential {
                    secrets: vec![password.clone(), Secret::new(pair.as_str())],
                    ..header(&format!("Basic {pair}"), "the password")?
                })
            }
            Self::File(path) => {
                let ends = Some(clock.now() + FILE_LIFETIME + EARLIER);
                let name = format!("the token file {}", path.display());
                Ok(Credential { ends, lasts: true, ..bearer(&read(path)?, &name)? })
            }
            Self::Plugin(exec) => of_plugin(exec, within).await,
        }
    }
}

/// Runs a plugin and reads what it printed.
async fn of_plugin(
    exec: &ExecConfig,
    within: Option<Duration>,
) -> Result<Credential, NoCredential> {
    let command = exec.command.clone().unwrap_or_default();
    let useless =
        |problem: &str| NoCredential::Useless { command: command.clone(), problem: problem.into() };
    let status = plugin::run(exec, within).await?;
    let ends = match &status.expiration_timestamp {
        None => None,
        Some(text) => Some(end(text).ok_or_else(|| useless("its expirationTimestamp is no time"))?),
    };
    if let (Some(certificate), Some(key)) = (status.client_certificate_data, status.client_key_data)
    {
        let key = Secret::new(key);
        let secrets = vec![key.clone()];
        return Ok(Credential {
            identity: Some((certificate, key)),
            secrets,
            ends,
            ..Credential::default()
        });
    }
    let token = status.token.ok_or_else(|| useless("it has no token and no certificate"))?;
    let made = bearer(&token, &format!("the token that `{command}` printed"))?;
    Ok(Credential { ends, ..made })
}

/// Providers are gone from kubectl since 1.26; a token that stands in the
/// kubeconfig can still be shown.
fn of_provider(provider: &AuthProviderConfig) -> Result<Source, NoCredential> {
    let token = provider.config.get("id-token").or_else(|| provider.config.get("access-token"));
    match token {
        Some(token) => Ok(Source::Token(Secret::new(token.as_str()))),
        None => Err(NoCredential::Provider(provider.name.clone())),
    }
}

// === impl Credential ===

impl Credential {
    /// Returns whether another one is due.
    pub(crate) fn is_over(&self, clock: &Clock) -> bool {
        let Some(ends) = self.ends else { return false };
        clock.now() + EARLIER >= ends
    }

    /// Returns whether it may be shown where no other is to be had.
    pub(crate) fn lasts(&self) -> bool {
        self.lasts
    }
}

fn bearer(token: &str, name: &str) -> Result<Credential, NoCredential> {
    // Editors and block literals end a text with a line break, which is no part
    // of the token.
    let token = token.trim();
    let made = header(&format!("Bearer {token}"), name)?;
    Ok(Credential { secrets: vec![Secret::new(token)], ..made })
}

fn header(text: &str, name: &str) -> Result<Credential, NoCredential> {
    let unsendable = |problem: String| NoCredential::Unsendable { name: name.to_owned(), problem };
    if text.len() > bounds::TOKEN {
        return Err(unsendable(format!("it has more than {} KiB", bounds::TOKEN >> 10)));
    }
    let mut value = HeaderValue::try_from(text).map_err(|_| unsendable(flaw(text)))?;
    value.set_sensitive(true);
    Ok(Credential { authorization: Some(value), ..Credential::default() })
}

/// Names the first character that cannot stand in a header, and nothing around it.
fn flaw(text: &str) -> String {
    match text.chars().find(|symbol| symbol.is_control()) {
        Some('\n' | '\r') => "it has a line break in it".to_owned(),
        Some(other) => format!("it has the control character U+{:04X} in it", u32::from(other)),
        None => "it has characters that cannot be sent".to_owned(),
    }
}

fn read(path: &Path) -> Result<String, NoCredential> {
    use std::io::Read as _;
    let unread = |problem: String| NoCredential::File { path: path.to_owned(), problem };
    let file = std::fs::File::open(path).map_err(|error| unread(io_reason(&error)))?;
    let mut text = String::new();
    let most = u64::try_from(bounds::TOKEN).unwrap_or(u64::MAX);
    file.take(most + 1).read_to_string(&mut text).map_err(|error| unread(io_reason(&error)))?;
    Ok(text)
}

/// Reads a time. What lies behind the last one that can be reckoned with is
/// as good as never: `9999-12-31T23:59:59Z` is what people write for it.
fn end(text: &str) -> Option<Timestamp> {
    let far = || {
        let civil: jiff::civil::DateTime = text.get(..19)?.parse().ok()?;
        (civil.year() == 9999).then_some(Timestamp::MAX)
    };
    text.parse().ok().or_else(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_that_never_ends_may_say_so() {
        assert_eq!(end("9999-12-31T23:59:59Z"), Some(Timestamp::MAX));
        assert_eq!(end("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z".parse().ok());
        assert_eq!(end("hunter22"), None);
        let never = Credential { ends: Some(Timestamp::MAX), ..Credential::default() };
        assert!(!never.is_over(&Clock::real()));
    }

    #[test]
    fn a_token_that_cannot_be_sent_is_an_error_without_the_token() {
        assert!(bearer("hunter22\n", "x").is_ok(), "a line break at the end is no part of it");
        for (token, why) in [
            ("hunter22\nsecond", "it has a line break in it"),
            ("hunter22\r\nX-Evil: 1", "it has a line break in it"),
            ("hunter22\u{1b}x", "it has the control character U+001B in it"),
        ] {
            let error = bearer(token, "the token of the kubeconfig").unwrap_err().to_string();
            assert_eq!(error, format!("the token of the kubeconfig cannot be sent: {why}"));
        }
        let long = bearer(&"x".repeat(300 << 10), "the token").unwrap_err().to_string();
        assert_eq!(long, "the token cannot be sent: it has more than 256 KiB");
    }
}
