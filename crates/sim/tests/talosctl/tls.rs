//! What openssl sees of a node: alerts, and the fingerprint of its key.

use std::fs;
use std::process::Command;

use base64::{Engine, prelude::BASE64_STANDARD};
use sim::talos::API_PORT;

use crate::normal::normal;
use crate::script::Script;

/// Says the first words of HTTP/2, and stays for the answer.
const TALK: &str = r"(printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0'; sleep 1) |
    timeout 8 openssl s_client -alpn h2 -connect $0 $@ 2>&1";
/// The hash of the key, as a node prints it on its console.
const FINGERPRINT: &str = "openssl s_client -alpn h2 -connect $0 </dev/null 2>/dev/null |
    openssl x509 -pubkey -noout | openssl pkey -pubin -outform der |
    openssl dgst -sha256 -binary | base64";

/// What is in the certificate but its keys and its dates, one thing a line.
const CERTIFICATE: &str = r#"
    shown=$(openssl s_client -alpn h2 -connect $0 </dev/null 2>/dev/null | openssl x509)
    of() { echo "$shown" | openssl x509 -noout "$@"; }
    seconds() { date -d "$(of $1 | cut -d= -f2)" +%s; }
    of -nameopt RFC2253 -subject -issuer
    of -ext basicConstraints,keyUsage,extendedKeyUsage,subjectAltName 2>&1 | tr , '\n'
    of -text | grep -o 'Public Key Algorithm: .*'
    of -text | grep -o 'Signature Algorithm: .*' | uniq
    echo "valid for $(( $(seconds -enddate) - $(seconds -startdate) )) seconds""#;

/// Says whether there is an openssl to ask.
pub(crate) fn there_is_openssl() -> bool {
    Command::new("openssl").arg("version").output().is_ok_and(|it| it.status.success())
}

impl Script<'_> {
    /// Takes down which alert ends the talk.
    pub(crate) fn alert(&mut self, step: &'static str, args: &[&str]) {
        let said = self.shell(TALK, args);
        let alerts = said.lines().filter_map(|line| line.split_once("SSL alert number "));
        let alerts = alerts.map(|(_, number)| format!("alert {}", number.trim()));
        self.transcript.push((step, alerts.collect()));
    }

    /// Takes down what the node's certificate says.
    pub(crate) fn certificate(&mut self, step: &'static str) {
        let said = self.shell(CERTIFICATE, &[]);
        self.transcript.push((step, normal(&said, &self.ground.addresses())));
    }

    pub(crate) fn fingerprint(&self) -> String {
        self.shell(FINGERPRINT, &[]).trim().to_owned()
    }

    /// Writes the certificate and the key of a talosconfig for openssl, which
    /// does not know Talos's label of keys.
    pub(crate) fn client_files(&self, cluster: &str) -> [String; 2] {
        let config = fs::read_to_string(self.file(&format!("{cluster}/talosconfig"))).unwrap();
        ["crt", "key"].map(|field| {
            let field_at = format!("        {field}: ");
            let value = config.lines().find_map(|line| line.strip_prefix(&field_at)).unwrap();
            let pem = String::from_utf8(BASE64_STANDARD.decode(value).unwrap()).unwrap();
            let name = format!("{cluster}.{field}");
            fs::write(self.file(&name), pem.replace("ED25519 PRIVATE", "PRIVATE")).unwrap();
            self.path(&name)
        })
    }

    fn shell(&self, script: &str, args: &[&str]) -> String {
        let address = format!("{}:{API_PORT}", self.ground.address());
        let output = Command::new("sh").args(["-c", script, &address]).args(args).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    }
}
