//! The gate of Sealed Secrets: what is sealed now, our key opens.

use events::{Digest, Failure, Verdict};

use super::stand_in::{NAME, PORT};
use crate::codes;
use crate::gate::{Finding, Gate, Inquiry, Look, Need, Replicated, Seen, verdict};
use crate::seal::Certificate;

/// Proves that the controller is there and serves the certificate of our key.
#[derive(Clone, Debug)]
pub struct SealedSecretsGate {
    /// Where the controller is.
    pub namespace: String,
    /// The SHA-256 of our public key.
    pub spki: Digest,
}

impl SealedSecretsGate {
    fn controller(&self) -> Replicated<'_> {
        Replicated {
            namespace: &self.namespace,
            name: NAME,
            labels: "app.kubernetes.io/name=sealed-secrets",
        }
    }

    fn certificate(&self) -> Look {
        Look::Proxied {
            namespace: self.namespace.clone(),
            service: NAME.to_owned(),
            port: PORT,
            path: "/v1/cert.pem",
        }
    }

    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        self.controller().judge(seen, &mut inquiry)?;
        // While pods come and go, an old one may answer: what it says decides nothing.
        if !inquiry.is_clear() {
            return Ok(inquiry.conclude(""));
        }
        match seen.text(&self.certificate())? {
            Some(pem) => self.compare(pem, &mut inquiry),
            None => inquiry.found(unreadable("its service does not exist".to_owned())),
        }
        Ok(inquiry.conclude(format!("serves our certificate, key {}", self.spki.short())))
    }

    fn compare(&self, pem: &str, inquiry: &mut Inquiry) {
        let certificate = match Certificate::from_pem(pem) {
            Ok(certificate) => certificate,
            Err(error) => return inquiry.found(unreadable(error.to_string())),
        };
        inquiry.fact("served key", certificate.spki().to_string());
        inquiry.fact("certificate ends", certificate.ends().to_string());
        if certificate.spki() != self.spki {
            inquiry.found(self.foreign(&certificate));
        }
    }

    /// The controller reads keys only when it starts: waiting does not help.
    fn foreign(&self, served: &Certificate) -> Finding {
        let Self { namespace, spki } = self;
        let message = format!("{NAME} seals for key {}", served.spki().short());
        Finding::new(codes::SEALING_KEY_FOREIGN, message)
            .because([format!("our key is {}", spki.short())])
            .so("what is sealed now does not open with the key in the state folder")
            .next(
                format!("kubectl -n {namespace} rollout restart deployment/{NAME}"),
                "lets it read its keys again",
            )
            .hopeless()
    }
}

impl Gate for SealedSecretsGate {
    fn needs(&self) -> Vec<Need> {
        let mut needs = self.controller().needs();
        needs.push(self.certificate().decides());
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

fn unreadable(why: String) -> Finding {
    let message = format!("{NAME} serves no certificate");
    Finding::new(codes::SEALING_CERTIFICATE_UNREADABLE, message).because([why])
}
