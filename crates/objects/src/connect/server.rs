//! The address of an API, and who it says that asks.

use std::net::IpAddr;

use events::Secret;
use http::Uri;
use http::uri::Authority;
use peers::without_user_info;
use percent_encoding::percent_decode_str;

use super::AccessError;

/// A server without user info, and the user info that its URL had.
pub(super) struct Server {
    pub(super) url: Uri,
    pub(super) login: Option<(String, Secret)>,
}

impl Server {
    /// Takes user info out of a URL: it must stand in no message and no name of
    /// a folder.
    pub(super) fn of(url: &Uri) -> Result<Self, AccessError> {
        let unusable = || AccessError::Address(without_user_info(&url.to_string()));
        let authority = url.authority().ok_or_else(unusable)?;
        let Some((info, place)) = authority.as_str().rsplit_once('@') else {
            return Ok(Self { url: url.clone(), login: None });
        };
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = info.split_once(':').unwrap_or((info, ""));
        let mut parts = url.clone().into_parts();
        parts.authority = Some(Authority::try_from(place).map_err(|_| unusable())?);
        let url = Uri::from_parts(parts).map_err(|_| unusable())?;
        Ok(Self { url, login: Some((decode(user), Secret::new(decode(password)))) })
    }
}

/// Reads an address.
pub(super) fn address(server: &str) -> Result<Uri, AccessError> {
    let uri: Option<Uri> = server.parse().ok();
    uri.filter(|uri| uri.scheme().is_some() && uri.host().is_some())
        .ok_or_else(|| AccessError::Address(without_user_info(server)))
}

/// Returns whether a server is on this machine.
pub(super) fn is_loopback(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_info_is_taken_out_of_an_address() {
        let url = "https://bob:p%40ss@10.0.0.1:6443/x".parse().unwrap();
        let server = Server::of(&url).unwrap();
        assert_eq!(server.url.to_string(), "https://10.0.0.1:6443/x");
        let (user, password) = server.login.unwrap();
        assert_eq!((user.as_str(), password.reveal()), ("bob", "p@ss"));
    }

    #[test]
    fn what_is_no_address_is_told_without_its_password() {
        let error = address("bob:hunter22@10.0.0.1").unwrap_err().to_string();
        assert!(error.starts_with("`10.0.0.1` is not an address"), "{error}");
        let error = address("htt ps://bob:hunter22@x").unwrap_err().to_string();
        assert!(!error.contains("hunter22"), "{error}");
    }
}
