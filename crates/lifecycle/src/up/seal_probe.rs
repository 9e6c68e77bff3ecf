//! The probe of `seal`: what is sealed for our key comes out as a Secret.

use addons::probe::ProbeKind;
use addons::seal::SealedSecret;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::{ActError, Hands};
use events::{Because, Cause, Evidence, Failure, Verdict};

use super::probing::Probing;
use crate::hetzner::explain;
use crate::{Site, codes, kube};

const NAME: &str = "probe";
const KEY: &str = "word";
const SILENT: &str = "the controller says nothing about it";

pub(super) async fn probe(site: &Site, hands: &Hands) -> Result<Verdict, ActError> {
    let probing = Probing { site, hands, kind: ProbeKind::Seal };
    if probing.found().is_none() {
        let (namespace, word) = (probing.mark().namespace(), hands.eyes().run().to_string());
        let sealed =
            kube::kind("bitnami.com/v1alpha1", "SealedSecret").named(Some(&namespace), NAME);
        // Sealing twice gives two texts: what is there already stays.
        if kube::get(site, &sealed).await?.is_none() {
            probing.make(vec![probing.mark().home(), seal(site, &namespace, &word)?]).await?;
        }
        let secret = kube::kind("v1", "Secret").named(Some(&namespace), NAME);
        let secret = kube::get(site, &secret).await?;
        let opened = secret.as_ref().and_then(|secret| secret.text("/data/word"));
        if opened != Some(STANDARD.encode(&word).as_str()) {
            let sealed = kube::get(site, &sealed).await?;
            let said = sealed.as_ref().map(|it| it.items("/status/conditions")).unwrap_or_default();
            let said = said.iter().find_map(|it| it["message"].as_str().map(str::to_owned));
            let because = Because::new("the sealed secret was not opened yet");
            let cause =
                Cause::new(codes::SEAL_UNOPENED, "what was sealed for our key was not opened")
                    .because(said.clone().or(Some(SILENT.to_owned())))
                    .next(
                        format!("kubectl -n {namespace} get sealedsecrets {NAME} -o yaml"),
                        "shows what the controller says of it",
                    )
                    .next(explain(codes::SEAL_UNOPENED), "tells more");
            let because = said.into_iter().fold(because, Because::caused_by);
            return Ok(Verdict::not_yet(because.in_the_end(cause)));
        }
        probing.find("opened").await?;
    }
    Ok(match probing.clear().await? {
        Some(verdict) => verdict,
        None => Verdict::ready(Evidence::new("round trip ok")),
    })
}

fn seal(site: &Site, namespace: &str, word: &str) -> Result<serde_json::Value, Failure> {
    let key =
        site.sealing_key().ok_or_else(|| Failure::permanent("the sealing key was not made"))?;
    SealedSecret::new(namespace, NAME)
        .value(KEY, word.as_bytes(), key.certificate(), &mut site.rng())
        .map(|sealed| sealed.object())
        .map_err(|error| Failure::permanent(error.to_string()))
}
