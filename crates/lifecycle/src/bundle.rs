//! The secrets bundle on the disk: absent, there, or not to be used.

use events::{Cause, Class, Failure};
use talos::probe::Sighting;
use talos::secrets::Bundle;

use crate::hetzner::explain;
use crate::{Site, codes};

/// Loads the bundle; none where there is none. One that cannot be read is not
/// taken for absent: it may be the only one of a living cluster.
pub(crate) fn find(site: &Site) -> Result<Option<Bundle>, Box<Cause>> {
    let file = site.bundle_file();
    match file.try_exists() {
        Ok(false) => Ok(None),
        Ok(true) => Bundle::load(&file).map(Some).map_err(|error| {
            let why = Failure::of(Class::Permanent, &error).to_string();
            unusable(site, &why)
        }),
        Err(error) => Err(unusable(site, &error.to_string())),
    }
}

/// Says that there is no bundle, while machines have configs.
pub(crate) fn missing(site: &Site, machines: Vec<String>) -> Cause {
    let message = format!("the secrets bundle {} is missing", site.bundle_file().display());
    lost(message, machines)
}

/// Says that this cluster's machines have configs from another bundle than the one
/// that is there, and tells both keys by what one of them shows.
pub(crate) fn replaced(site: &Site, machines: Vec<String>, shown: &Sighting) -> Cause {
    let file = site.bundle_file();
    let message = format!("the secrets bundle {} is another one than before", file.display());
    lost(message, machines).because(keys(site, shown))
}

fn lost(message: String, machines: Vec<String>) -> Cause {
    let cause = Cause::new(codes::BUNDLE_LOST, message).because(machines);
    cause.next(explain(codes::BUNDLE_LOST), "tells where the right one may be")
}

/// The key that has signed a machine's certificate and the bundle's own, by the
/// identifiers that certificates have for them.
fn keys(site: &Site, shown: &Sighting) -> Vec<String> {
    let theirs = shown.certificate.as_ref().and_then(|it| it.authority_key_id.clone());
    let bundle = find(site).ok().flatten();
    let ours = bundle.and_then(|bundle| bundle.os.certificate().facts().key_id.clone());
    let at = shown.node.ip();
    let theirs = theirs.map(|key| format!("the certificate of {at} was signed with the key {key}"));
    let ours = ours.map(|key| format!("the key of the bundle is {key}"));
    theirs.into_iter().chain(ours).collect()
}

fn unusable(site: &Site, why: &str) -> Box<Cause> {
    let message = format!("the secrets bundle {} cannot be used", site.bundle_file().display());
    let cause = Cause::new(codes::BUNDLE_LOST, message).because([why]);
    Box::new(cause.next(explain(codes::BUNDLE_LOST), "tells more"))
}
