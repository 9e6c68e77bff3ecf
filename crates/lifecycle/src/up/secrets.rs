//! `secrets`: the bundle is on the disk before any node sees a config.

use engine::{ActError, Eyes, Hands, SendError, Sight};
use events::{Call, CallClass, Cause, Failure, Made, Redactor, Secret, Verdict};
use talos::pki::PrivateKey;
use talos::secrets::Bundle;

use crate::{Site, codes};

/// Loads the bundle, or makes the only one that this cluster will have.
pub(super) async fn act(site: &Site, hands: &Hands) -> Result<(), ActError> {
    let file = site.bundle_file();
    let call = Call::new(CallClass::Named, "make secrets bundle", "secrets.yaml", b"");
    let look = async |_| match file.try_exists() {
        Ok(true) => Ok(Sight::There(Made::default())),
        Ok(false) => Ok(Sight::NotThere),
        Err(error) => Err(unreadable(site, &error.to_string()).into()),
    };
    let (path, at, mut rng) = (file.clone(), site.clock.now(), site.rng());
    let make = move |_| async move {
        // An RSA key takes seconds of computing.
        let made = tokio::task::spawn_blocking(move || {
            let key = PrivateKey::rsa4096(&mut rng).map_err(|error| error.to_string())?;
            let bundle = Bundle::generate(key, at, &mut rng).map_err(|error| error.to_string())?;
            bundle.save_new(&path).map_err(|error| error.to_string())
        });
        let made = made.await.map_err(|error| error.to_string()).and_then(|made| made);
        made.map(|()| Made::default())
            .map_err(|error| SendError::refused(Failure::permanent(error)))
    };
    hands.ensure(call, look, make).await?;
    let bundle = Bundle::load(&file).map_err(|error| unreadable(site, &chain(&error)))?;
    for (name, secret) in bundle.secrets() {
        hands.hide(&name, &secret)?;
    }
    for (host, access) in &site.registries {
        for secret in access.secrets().filter(|it| is_findable(it)) {
            hands.hide(&format!("secret of the registry {host}"), secret)?;
        }
    }
    let kept = site.keep_bundle(bundle);
    kept.map_err(|error| unreadable(site, &chain(&error)).into())
}

/// What is shorter would hide other words; it goes nowhere but into configs.
fn is_findable(secret: &Secret) -> bool {
    secret.reveal().trim().len() >= Redactor::SHORTEST
}

/// Looks at the file that is on the disk now, not at what was kept.
pub(super) fn look(site: &Site, _: &Eyes) -> Verdict {
    match Bundle::load(&site.bundle_file()) {
        Ok(bundle) if bundle.fingerprints() == site.bundle().fingerprints() => {
            let mut evidence = bundle.evidence();
            evidence.summary += ", bundle written before any node";
            Verdict::ready(evidence)
        }
        Ok(_) => Verdict::failed(unreadable(site, "another bundle has taken its place")),
        Err(error) => Verdict::failed(unreadable(site, &chain(&error))),
    }
}

fn unreadable(site: &Site, why: &str) -> Cause {
    let message = format!("the secrets bundle {} cannot be used", site.bundle_file().display());
    Cause::new(codes::BUNDLE_LOST, message).because([why])
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    Failure::of(events::Class::Permanent, error).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that a redactor refuses would end the run.
    #[test]
    fn what_is_findable_can_be_hidden() {
        for text in ["hunter2", "hunter22", " hunter2 ", "        ", "hunter22\n"] {
            let secret = Secret::new(text);
            let hidden = Redactor::new([7; 32]).add("canary", &secret);
            assert_eq!(hidden.is_ok(), is_findable(&secret), "{text:?}");
        }
    }
}
