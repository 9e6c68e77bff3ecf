//! `image`: the snapshot that nodes boot from is there and whole.

use clouds::Labels;
use clouds::hetzner::{Image, ImageStatus};
use events::{Because, Cause, Evidence, Verdict};

use crate::hetzner::{architecture, blind, explain};
use crate::{Site, codes};

/// Looks for a snapshot of every architecture.
pub(super) async fn look(site: &Site) -> Verdict {
    let labels = site.wanted().image_labels();
    let mut evidence = Evidence::default();
    let mut words = Vec::new();
    for wanted in &site.plan.architectures {
        let found = match site.hetzner().snapshots(&labels, architecture(*wanted)).await {
            Ok(found) => found,
            Err(error) => return blind(error),
        };
        let available = |image: &&Image| image.status == ImageStatus::Available;
        match (found.iter().find(available), found.first()) {
            (Some(image), _) => {
                site.learn_image(*wanted, image.id);
                words.push(format!("snapshot {} for {wanted}", image.id));
                evidence = evidence.fact(format!("snapshot.{wanted}"), image.id.to_string());
            }
            (None, Some(image)) => {
                let words = format!("snapshot {} for {wanted} is not available yet", image.id);
                let cause = Cause::new(codes::NO_IMAGE, words.clone())
                    .next(explain(codes::NO_IMAGE), "tells how to make one");
                return Verdict::not_yet(Because::new(words).in_the_end(cause));
            }
            (None, None) => return Verdict::failed(missing(site, *wanted, &labels)),
        }
    }
    evidence.summary = words.join(", ");
    Verdict::ready(evidence)
}

fn missing(site: &Site, wanted: spec::Architecture, labels: &Labels) -> Cause {
    let message =
        format!("the project holds no snapshot of Talos {} for {wanted}", site.plan.talos);
    let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    Cause::new(codes::NO_IMAGE, message)
        .because([format!("looked for snapshots with the labels {}", pairs.join(", "))])
        .next(explain(codes::NO_IMAGE), "tells how to make one")
}
