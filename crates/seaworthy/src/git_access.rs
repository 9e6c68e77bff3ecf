//! How Flux gets into the repository that a cluster follows: with secrets from
//! files that the cluster file names, never from the cluster file itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use events::Secret;
use lifecycle::GitAccess;
use spec::FilePath;

use crate::command_error::CommandError;
use crate::credentials_file;
use crate::exit::Exit;

/// Reads what the cluster file names, beside which the files lie.
pub(crate) fn read(git: &spec::GitAccess, beside: &Path) -> Result<GitAccess, CommandError> {
    let text = |file: &FilePath, what: &str| {
        let path = beside.join(file.as_str());
        fs::read_to_string(&path).map_err(|error| {
            let message = format!("could not read {what} {}: {error}", path.display());
            CommandError::say(Exit::Usage, message)
        })
    };
    if git.repository.value.is_ssh() {
        let identity = match &git.private_key_file {
            Some(file) => Some(private_key(&text(&file.value, "the SSH key")?, &file.value)?),
            None => None,
        };
        let known_hosts = match &git.known_hosts_file {
            Some(file) => text(&file.value, "the host keys")?,
            None => own_known_hosts(&git.repository.value)?,
        };
        return Ok(GitAccess::Ssh { identity, known_hosts });
    }
    match &git.credentials_file {
        Some(file) => credentials(&text(&file.value, "the credentials")?, &file.value),
        None => Ok(GitAccess::Public),
    }
}

/// Returns what a rehearsal has instead: nobody looks at it.
pub(crate) fn rehearsed(git: &spec::GitAccess) -> GitAccess {
    if git.repository.value.is_ssh() {
        let known_hosts = format!("{} ssh-ed25519 simulated\n", git.repository.value.host());
        return GitAccess::Ssh { identity: None, known_hosts };
    }
    match git.credentials_file {
        Some(_) => GitAccess::Https {
            username: "rehearsal".to_owned(),
            password: Secret::new("password of a rehearsal"),
        },
        None => GitAccess::Public,
    }
}

fn private_key(text: &str, file: &FilePath) -> Result<Secret, CommandError> {
    let wrong = |what: &str, hint: &str| {
        let message = format!("{} {what}", file.as_str());
        Err(CommandError::say(Exit::Usage, message).hint(hint))
    };
    let begin = text.lines().next().unwrap_or_default();
    if !(begin.starts_with("-----BEGIN ") && begin.ends_with("PRIVATE KEY-----")) {
        return wrong("is no private key", "Flux needs the private half, such as `id_ed25519`");
    }
    if text.contains("ENCRYPTED") {
        return wrong("has a passphrase, which nobody can type for Flux", "make a key without one");
    }
    Ok(Secret::new(text))
}

fn credentials(text: &str, file: &FilePath) -> Result<GitAccess, CommandError> {
    let value = |key: &str| {
        credentials_file::value(text, key).ok_or_else(|| {
            let message = format!("{} has no `{key}`", file.as_str());
            CommandError::say(Exit::Usage, message)
                .hint("write `username: …` and `password: …`, each on a line of its own")
        })
    };
    Ok(GitAccess::Https { username: value("username")?, password: Secret::new(value("password")?) })
}

/// Takes the host keys that whoever runs this trusts already: git has just
/// talked to the same host.
fn own_known_hosts(repository: &spec::GitUrl) -> Result<String, CommandError> {
    let name = host_name(repository.as_str(), repository.host());
    let found = Command::new("ssh-keygen").args(["-F", &name]).output();
    let found = found.map(|found| String::from_utf8_lossy(&found.stdout).into_owned());
    let lines = found.unwrap_or_default();
    let keys: Vec<_> = lines.lines().filter(|line| !line.starts_with('#')).collect();
    if keys.is_empty() {
        let message = format!("nothing says which key {name} has, and Flux trusts no other");
        return Err(CommandError::say(Exit::Usage, message)
            .hint("set `knownHostsFile` in the cluster file; `ssh-keyscan` writes one"));
    }
    Ok(keys.join("\n") + "\n")
}

/// OpenSSH puts a host with a port of its own into brackets.
fn host_name(url: &str, host: &str) -> String {
    let authority = url.trim_start_matches("ssh://").split('/').next().unwrap_or_default();
    match authority.rsplit('@').next().and_then(|it| it.split_once(':')) {
        Some((_, port)) if port != "22" => format!("[{host}]:{port}"),
        _ => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spec::{AddonName, AddonOptions};

    const KEY: &str =
        "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary-hunter22\n-----END OPENSSH PRIVATE KEY-----\n";

    fn git(flux: &str) -> spec::GitAccess {
        let text = format!(
            "apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: {{ name: demo }}
spec:
  cloud: {{ hetzner: {{ location: fsn1 }} }}
  talos: {{ version: v1.14.1 }}
  kubernetes: {{ version: v1.36.3 }}
  controlPlane: {{ count: 1, type: cax11 }}
  addons: {{ cilium: {{}}, hcloud-ccm: {{}}, flux: {{ path: demo, {flux} }} }}
"
        );
        let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().ok().unwrap();
        match &cluster.addons.get(AddonName::Flux).unwrap().options {
            AddonOptions::Flux(git) => (**git).clone(),
            other => panic!("{other:?}"),
        }
    }

    fn with(file: &str, text: &str, flux: &str) -> Result<GitAccess, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hosts"), "example.com ssh-ed25519 AAAA\n").unwrap();
        fs::write(folder.path().join(file), text).unwrap();
        let told = |error: CommandError| {
            let mut text = Vec::new();
            error.print(&mut text).unwrap();
            String::from_utf8(text).unwrap().replace(&folder.path().display().to_string(), "$HERE")
        };
        read(&git(flux), folder.path()).map_err(told)
    }

    const SSH: &str =
        "repository: ssh://git@example.com/fleet, knownHostsFile: hosts, privateKeyFile: id";
    const HTTPS: &str = "repository: https://example.com/fleet, credentialsFile: login";

    #[test]
    fn keys_and_passwords_come_from_files() {
        let known_hosts = "example.com ssh-ed25519 AAAA\n".to_owned();
        let identity = Some(Secret::new(KEY));
        assert_eq!(with("id", KEY, SSH), Ok(GitAccess::Ssh { identity, known_hosts }));
        let login = GitAccess::Https { username: "me".into(), password: Secret::new("hunter22") };
        for text in ["username: me\npassword: hunter22\n", "username=me\npassword=\"hunter22\""] {
            assert_eq!(with("login", text, HTTPS), Ok(login.clone()));
        }
        let open = "repository: https://example.com/fleet";
        assert_eq!(with("unused", "", open), Ok(GitAccess::Public));
    }

    #[test]
    fn files_that_are_no_good_are_refused_without_showing_them() {
        for (file, text, flux, expected) in [
            ("other", "", SSH, "could not read the SSH key $HERE/id"),
            ("id", "ssh-ed25519 canary-hunter22", SSH, "id is no private key"),
            (
                "id",
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\ncanary-hunter22\n",
                SSH,
                "id has a passphrase, which nobody can type for Flux",
            ),
            ("login", "password: canary-hunter22", HTTPS, "login has no `username`"),
            ("login", "username: canary-hunter22", HTTPS, "login has no `password`"),
        ] {
            let told = with(file, text, flux).unwrap_err();
            assert!(told.contains(expected), "{told}");
            assert!(!told.contains("canary"), "{told}");
        }
    }

    #[test]
    fn hosts_have_the_names_that_openssh_gives_them() {
        for (url, expected) in [
            ("ssh://git@example.com/fleet", "example.com"),
            ("ssh://git@example.com:22/fleet", "example.com"),
            ("ssh://git@example.com:2222/fleet", "[example.com]:2222"),
        ] {
            assert_eq!(host_name(url, "example.com"), expected);
        }
    }

    #[test]
    fn a_rehearsal_needs_no_file() {
        assert!(matches!(rehearsed(&git(SSH)), GitAccess::Ssh { identity: None, .. }));
        assert!(matches!(rehearsed(&git(HTTPS)), GitAccess::Https { .. }));
    }
}
