//! The key of Sealed Secrets that a cluster file names, so that a rebuilt cluster
//! opens the secrets of an earlier one.

use std::fs;
use std::path::Path;

use events::Secret;
use lifecycle::SealingKey;
use spec::{AddonName, AddonOptions, Cluster, FilePath};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Reads the certificate and its private key; both lie beside the cluster file.
pub(crate) fn read(cluster: &Cluster, beside: &Path) -> Result<Option<SealingKey>, CommandError> {
    let addon = cluster.addons.get(AddonName::SealedSecrets);
    let Some(AddonOptions::SealedSecrets { key: Some(key) }) = addon.map(|it| &it.options) else {
        return Ok(None);
    };
    let (Some(certificate), Some(private)) = (&key.certificate_file, &key.private_key_file) else {
        return Ok(None);
    };
    let text = |file: &FilePath, what: &str| {
        let path = beside.join(file.as_str());
        fs::read_to_string(&path).map_err(|error| {
            let message = format!("could not read the {what} {}: {error}", path.display());
            CommandError::say(Exit::Usage, message)
        })
    };
    let pem = text(&certificate.value, "certificate of sealed-secrets")?;
    let secret = Secret::new(text(&private.value, "private key of sealed-secrets")?);
    SealingKey::from_pem(&pem, &secret).map(Some).map_err(|error| {
        let files = format!("{} and {}", certificate.value, private.value);
        CommandError::new(Exit::Usage, &error).hint(format!("the files of the key are {files}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = include_str!("../../spec/tests/bases/hetzner.yaml");

    fn read_with(certificate: &str, key: &str) -> Result<Option<SealingKey>, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tls.crt"), certificate).unwrap();
        fs::write(folder.path().join("tls.key"), key).unwrap();
        let named = "cilium: {}\n    sealed-secrets: { key: { certificateFile: tls.crt, \
                     privateKeyFile: tls.key } }";
        let text = FILE.replacen("cilium: {}", named, 1);
        let cluster = spec::read("cluster.yaml", text.as_bytes()).into_cluster().ok().unwrap();
        read(&cluster, folder.path()).map_err(|error| error.message())
    }

    #[test]
    fn sealing_key_is_read_from_its_files() {
        let (certificate, key) = crate::test_keys::rsa();
        let read = read_with(&certificate, &key).unwrap().unwrap();
        assert_eq!(read.private().reveal(), key);
        assert_eq!(read.certificate().pem(), certificate);
    }

    #[test]
    fn sealing_key_files_of_another_form_are_refused_without_showing_them() {
        let (certificate, key) = crate::test_keys::rsa();
        for (certificate, key, expected) in [
            ("canary-hunter22", key.as_str(), "not PEM"),
            (certificate.as_str(), "canary-hunter22", "not an RSA key in PEM"),
            (key.as_str(), key.as_str(), "not a certificate"),
        ] {
            let told = read_with(certificate, key).unwrap_err();
            assert!(told.contains(expected), "{told}");
            assert!(!told.contains("canary"), "{told}");
        }
    }
}
