//! How nodes get into the registries of a cluster file: with secrets from files
//! that it names, never from the cluster file itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ::talos::config::{RegistryAccess, RegistryCredentials, RegistryIdentity};
use ::talos::pki::Certificate;
use events::Secret;
use spec::Plan;
use spec::plan::RegistryPlan;

use crate::command_error::CommandError;
use crate::credentials_file;
use crate::exit::Exit;

/// The host that containerd asks for images of `docker.io`.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// How a file with credentials looks.
const CREDENTIALS: &str = "write `username: …` and `password: …`, each on a line of its own, or \
                           `token: …`";

/// Reads all of them, by the host that nodes ask; the files lie beside the
/// cluster file.
pub(crate) fn read(
    plan: &Plan,
    beside: &Path,
) -> Result<BTreeMap<String, RegistryAccess>, CommandError> {
    let read = |(host, planned): (&String, &RegistryPlan)| {
        let (name, asked) = DOCKER_HUB;
        let asked = if host == name { asked } else { host };
        Ok((asked.to_owned(), one(host, planned, beside)?))
    };
    plan.system.registries.iter().map(read).collect()
}

fn one(host: &str, planned: &RegistryPlan, beside: &Path) -> Result<RegistryAccess, CommandError> {
    let text = |file: &Option<String>, what: &str| -> Result<Option<String>, CommandError> {
        let Some(file) = file else { return Ok(None) };
        let path = beside.join(file);
        fs::read_to_string(&path).map(Some).map_err(|error| {
            let message =
                format!("could not read the {what} for {host}, {}: {error}", path.display());
            CommandError::say(Exit::Usage, message)
        })
    };
    let pem = |file: &Option<String>, what: &str, is_one: fn(&str) -> bool| {
        let Some(text) = text(file, what)? else { return Ok(None) };
        if is_one(&text) {
            return Ok(Some(text));
        }
        let file = file.as_deref().unwrap_or_default();
        let message = format!("{file}, for {host}, is no {what} in PEM");
        Err(CommandError::say(Exit::Usage, message))
    };
    let credentials = text(&planned.credentials_file, "credentials")?;
    let credentials = credentials.map(|text| credentials_in(&text));
    let credentials = credentials.transpose().map_err(|why| {
        let file = planned.credentials_file.as_deref().unwrap_or_default();
        CommandError::say(Exit::Usage, format!("{file}, for {host}, {why}")).hint(CREDENTIALS)
    })?;
    let certificate = pem(&planned.certificate_file, "certificate", are_certificates)?;
    let key = pem(&planned.private_key_file, "private key", is_private_key)?;
    let identity = certificate
        .zip(key)
        .map(|(certificate, key)| RegistryIdentity { certificate, key: Secret::new(key) });
    let ca = pem(&planned.ca_file, "certificate", are_certificates)?;
    Ok(RegistryAccess { credentials, ca, identity })
}

/// Whether there is nothing but certificates, and at least one.
fn are_certificates(text: &str) -> bool {
    let blocks = text.split_inclusive("-----END CERTIFICATE-----");
    let mut blocks =
        blocks.filter_map(|block| Some(&block[block.find("-----BEGIN ")?..])).peekable();
    blocks.peek().is_some() && blocks.all(|block| Certificate::from_pem(block).is_ok())
}

fn is_private_key(text: &str) -> bool {
    let mut lines = text.lines();
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.ends_with("PRIVATE KEY-----");
    lines.any(begins) && lines.any(|line| line.ends_with("PRIVATE KEY-----"))
}

/// Reads a user and a password, or a token. The reason shows nothing of the text.
fn credentials_in(text: &str) -> Result<RegistryCredentials, String> {
    let value = |key: &str| credentials_file::value(text, key);
    match (value("token"), value("username"), value("password")) {
        (Some(token), None, None) => Ok(RegistryCredentials::Token(Secret::new(token))),
        (Some(_), ..) => Err("has a token beside a user or a password".to_owned()),
        (None, Some(username), Some(password)) => {
            Ok(RegistryCredentials::Password { username, password: Secret::new(password) })
        }
        (None, Some(_), None) => Err("has no `password`".to_owned()),
        (None, None, Some(_)) => Err("has no `username`".to_owned()),
        (None, None, None) => Err("has neither a user and a password nor a token".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        credentials_in(text).unwrap_err()
    }

    #[test]
    fn credentials_are_a_user_with_a_password_or_a_token() {
        let user = credentials_in("# ours\nusername: robot$a\npassword = 'hunter22: x'\n").unwrap();
        let password = Secret::new("hunter22: x");
        let username = "robot$a".to_owned();
        assert_eq!(user, RegistryCredentials::Password { username, password });
        let token = credentials_in("token: canary-hunter22\n").unwrap();
        assert_eq!(token, RegistryCredentials::Token(Secret::new("canary-hunter22")));
        assert!(!format!("{token:?} {user:?}").contains("hunter22"));
        assert_eq!(error("username: a\n"), "has no `password`");
        assert_eq!(error("password: hunter22\n"), "has no `username`");
        assert_eq!(error("hunter22\n"), "has neither a user and a password nor a token");
        let both = error("token: hunter22\nusername: a\n");
        assert_eq!(both, "has a token beside a user or a password");
    }
}
