//! The probe of `storage`: a volume is bound, written, read, and gone again.

use addons::hcloud_csi::STORAGE_CLASS;
use addons::probe::{ProbeKind, Storage};
use engine::{ActError, Hands};
use events::{Because, Cause, Evidence, Failure, Verdict};
use objects::ObjectId;

use super::probing::Probing;
use crate::hetzner::explain;
use crate::{Site, codes, kube};

/// An image with a shell, small and on every mirror.
const SHELL: &str = "docker.io/library/busybox:1.37";

pub(super) async fn probe(site: &Site, hands: &Hands) -> Result<Verdict, ActError> {
    let probing = Probing { site, hands, kind: ProbeKind::Storage };
    let storage = Storage {
        run: hands.eyes().run(),
        storage_class: STORAGE_CLASS.to_owned(),
        size: "10Gi".to_owned(),
        image: SHELL.to_owned(),
    };
    if probing.found().is_none() {
        probing.make(storage.objects()).await?;
        let namespace = storage.mark().namespace();
        let pod = kube::kind("v1", "Pod").named(Some(&namespace), Storage::NAME);
        match kube::get(site, &pod).await?.as_ref().and_then(|pod| pod.text("/status/phase")) {
            Some("Succeeded") => probing.find("written and read").await?,
            phase => {
                let because = waiting(site, phase, &pod).await?;
                let cause = unusable(&because, &namespace);
                return Ok(Verdict::not_yet(because.in_the_end(cause)));
            }
        }
    }
    Ok(match probing.clear().await? {
        Some(verdict) => verdict,
        None => Verdict::ready(
            Evidence::new("probe volume written and gone").fact("storage class", STORAGE_CLASS),
        ),
    })
}

/// The pod, the claim that it waits for, and what the cloud says of that.
fn unusable(because: &Because, namespace: &str) -> Cause {
    Cause::new(codes::VOLUME_UNUSABLE, "a probe volume could not be used")
        .because([because.what.clone()])
        .because(because.chain.iter().cloned())
        .next(format!("kubectl -n {namespace} describe pods,pvc"), "shows their events")
        .next(explain(codes::VOLUME_UNUSABLE), "tells more")
}

/// Says what keeps the pod, and the claim that it waits for.
async fn waiting(site: &Site, phase: Option<&str>, pod: &ObjectId) -> Result<Because, Failure> {
    let cluster = kube::any(site).await?;
    let claim = kube::kind("v1", "PersistentVolumeClaim");
    let claim = claim.named(pod.namespace.as_deref(), Storage::NAME);
    let mut because = Because::new(format!("the probe's pod is {}", phase.unwrap_or("not there")));
    for id in [pod, &claim] {
        let why = cluster.why(id).await.map_err(|error| error.failure())?;
        for line in why.lines() {
            // The chain of the pod leads through its claim.
            if !because.chain.contains(&line) {
                because = because.caused_by(line);
            }
        }
    }
    Ok(because)
}
