//! The secrets bundle on the disk: absent, there, or not to be used.

use events::{Cause, Class, Failure};
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

fn unusable(site: &Site, why: &str) -> Box<Cause> {
    let message = format!("the secrets bundle {} cannot be used", site.bundle_file().display());
    let cause = Cause::new(codes::BUNDLE_LOST, message).because([why]);
    Box::new(cause.next(explain(codes::BUNDLE_LOST), "tells more"))
}
