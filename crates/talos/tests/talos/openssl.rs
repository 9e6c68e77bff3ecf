//! OpenSSL as a judge that we did not write, where it is installed.

use std::fs;
use std::process::Command;

use talos::pki::Certificate;
use tempfile::TempDir;

pub(crate) struct OpenSsl(TempDir);

impl OpenSsl {
    /// None where it is not installed, which is counted.
    #[track_caller]
    pub(crate) fn find() -> Option<Self> {
        let found = Command::new("openssl").arg("version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            return rig::need::skip("openssl is not installed");
        }
        Some(Self(tempfile::tempdir().unwrap()))
    }

    /// Returns what it prints of a certificate, without what differs between any two.
    pub(crate) fn print(&self, certificate: &Certificate) -> String {
        let file = self.file("print.pem", certificate.pem());
        let hidden = "no_pubkey,no_sigdump,no_serial,no_validity,no_header,no_version";
        let printed = run(&["x509", "-noout", "-text", "-certopt", hidden, "-in", &file]).unwrap();
        let ids = |line: &&str| !line.starts_with("                ") || !line.contains(':');
        let kept: Vec<_> = printed.lines().filter(ids).map(str::trim).collect();
        kept.join("\n").trim().to_owned()
    }

    /// Returns whether it trusts a client's certificate on the word of an authority.
    pub(crate) fn trusts(&self, authority: &Certificate, client: &Certificate) -> bool {
        let authority = self.file("ca.pem", authority.pem());
        let client = self.file("client.pem", client.pem());
        let arguments = ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"];
        run(&[arguments.as_slice(), &[&authority, &client]].concat()).is_some()
    }

    /// Returns the public key in a private key.
    pub(crate) fn public_key(&self, pem: &str) -> String {
        let file = self.file("key.pem", pem);
        run(&["pkey", "-pubout", "-in", &file]).unwrap()
    }

    /// Returns the public key in a certificate.
    pub(crate) fn certified_key(&self, certificate: &Certificate) -> String {
        let file = self.file("certified.pem", certificate.pem());
        run(&["x509", "-noout", "-pubkey", "-in", &file]).unwrap()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn run(arguments: &[&str]) -> Option<String> {
    let output = Command::new("openssl").args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        println!("openssl {arguments:?}: {said}");
    }
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}
