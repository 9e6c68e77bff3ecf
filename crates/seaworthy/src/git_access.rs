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

/// What the cluster file names.
struct Named {
    identity: Option<Secret>,
    known_hosts: Option<String>,
    login: Option<(String, Secret)>,
}

/// Checks the files that the cluster file names, and asks neither git nor ssh.
pub(crate) fn check(git: &spec::GitAccess, beside: &Path) -> Result<(), CommandError> {
    named(git, beside).map(drop)
}

/// Reads what the cluster file names, beside which the files lie.
pub(crate) fn read(git: &spec::GitAccess, beside: &Path) -> Result<GitAccess, CommandError> {
    let Named { identity, known_hosts, login } = named(git, beside)?;
    if git.repository.value.is_ssh() {
        let own = || own_known_hosts(&git.repository.value);
        return Ok(GitAccess::Ssh { identity, known_hosts: known_hosts.map_or_else(own, Ok)? });
    }
    Ok(match login {
        Some((username, password)) => GitAccess::Https { username, password },
        None => GitAccess::Public,
    })
}

fn named(git: &spec::GitAccess, beside: &Path) -> Result<Named, CommandError> {
    let text = |file: &FilePath, what: &str| {
        let path = beside.join(file.as_str());
        fs::read_to_string(&path).map_err(|error| {
            let message = format!("could not read {what} {}: {error}", path.display());
            CommandError::say(Exit::Usage, message)
        })
    };
    let identity = git.private_key_file.as_ref();
    let known = git.known_hosts_file.as_ref();
    let login = git.credentials_file.as_ref();
    Ok(Named {
        identity: identity
            .map(|file| private_key(&text(&file.value, "the SSH key")?, &file.value))
            .transpose()?,
        known_hosts: known
            .map(|file| host_keys(text(&file.value, "the host keys")?, &file.value))
            .transpose()?,
        login: login
            .map(|file| credentials(&text(&file.value, "the credentials")?, &file.value))
            .transpose()?,
    })
}

/// Every line of a `known_hosts` file has hosts, a kind of key and a key, perhaps
/// behind a marker such as `@cert-authority`.
fn host_keys(text: String, file: &FilePath) -> Result<String, CommandError> {
    let is_entry = |line: &str| {
        let fields = line.split_whitespace().filter(|field| !field.starts_with('@')).count();
        fields >= 3
    };
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let entries: Vec<_> =
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect();
    let wrong = match entries.iter().find(|(_, line)| !is_entry(line)) {
        Some((number, _)) => format!("{file}, line {number}, is no host key"),
        None if entries.is_empty() => format!("{file} holds no host key"),
        None => return Ok(text),
    };
    Err(CommandError::say(Exit::Usage, wrong)
        .hint("`ssh-keyscan HOST` writes such a file: compare its keys with those of the host"))
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

fn credentials(text: &str, file: &FilePath) -> Result<(String, Secret), CommandError> {
    let value = |key: &str| {
        credentials_file::value(text, key).ok_or_else(|| {
            let message = format!("{} has no `{key}`", file.as_str());
            CommandError::say(Exit::Usage, message)
                .hint("write `username: …` and `password: …`, each on a line of its own")
        })
    };
    Ok((value("username")?, Secret::new(value("password")?)))
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
    fn known_hosts_files_have_keys() {
        for (text, expected) in [
            ("# ours\n\nexample.com ssh-ed25519 AAAA\n", Ok(())),
            ("@cert-authority *.example.com ssh-rsa AAAA\n", Ok(())),
            ("|1|a=|b= ssh-rsa AAAA comment\n", Ok(())),
            ("# nothing\n", Err("hosts holds no host key")),
            ("example.com ssh-rsa AAAA\nexample.com\n", Err("hosts, line 2, is no host key")),
            ("@revoked example.com ssh-rsa\n", Err("hosts, line 1, is no host key")),
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("id"), KEY).unwrap();
            fs::write(folder.path().join("hosts"), text).unwrap();
            let checked = check(&git(SSH), folder.path()).map_err(|error| error.message());
            assert_eq!(checked, expected.map_err(str::to_owned), "{text}");
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
