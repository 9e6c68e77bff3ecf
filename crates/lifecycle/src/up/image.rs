//! `image`: the snapshot that nodes boot from is there, whole, and fits their disks.

use clouds::Labels;
use clouds::hetzner::{HetznerError, Image, ImageStatus, ServerType};
use events::{Because, Cause, Evidence, Verdict};
use spec::plan::NodePlan;

use crate::hetzner::{architecture, blind, explain, offers};
use crate::{Site, codes};

/// What the project holds for one architecture.
enum Found {
    /// A snapshot that servers can be made from.
    Available(Image),
    /// One that is still being made.
    Unfinished(Image),
    /// None.
    Nothing,
}

/// Looks for a snapshot of every architecture.
pub(super) async fn look(site: &Site) -> Verdict {
    let mut evidence = Evidence::default();
    let mut words = Vec::new();
    let types = match site.hetzner().server_types().await {
        Ok(types) => types,
        Err(error) => return blind(error),
    };
    for wanted in &site.plan.architectures {
        match find(site, *wanted).await {
            Ok(Found::Available(image)) => {
                if let Some(cause) = too_large(site, *wanted, &image, &types) {
                    return Verdict::failed(cause);
                }
                site.learn_image(*wanted, image.id);
                words.push(format!("snapshot {} for {wanted}", image.id));
                evidence = evidence.fact(format!("snapshot.{wanted}"), image.id.to_string());
            }
            Ok(Found::Unfinished(image)) => {
                let words = format!("snapshot {} for {wanted} is not available yet", image.id);
                let cause = Cause::new(codes::NO_IMAGE, words.clone())
                    .next(explain(codes::NO_IMAGE), "tells how to make one");
                return Verdict::not_yet(Because::new(words).in_the_end(cause));
            }
            Ok(Found::Nothing) => return Verdict::failed(missing(site, *wanted)),
            Err(error) => return blind(error),
        }
    }
    evidence.summary = words.join(", ");
    Verdict::ready(evidence)
}

/// Returns what `up` would stop at for want of a snapshot.
pub(super) async fn obstacles(
    site: &Site,
    types: &[ServerType],
) -> Result<Vec<Cause>, HetznerError> {
    let mut causes = Vec::new();
    for wanted in &site.plan.architectures {
        match find(site, *wanted).await? {
            Found::Available(image) => causes.extend(too_large(site, *wanted, &image, types)),
            Found::Unfinished(_) => {}
            Found::Nothing => causes.push(missing(site, *wanted)),
        }
    }
    Ok(causes)
}

async fn find(site: &Site, wanted: spec::Architecture) -> Result<Found, HetznerError> {
    let labels = site.wanted().image_labels();
    let mut found = site.hetzner().snapshots(&labels, architecture(wanted)).await?;
    let available = found.iter().position(|image| image.status == ImageStatus::Available);
    Ok(match available {
        Some(at) => Found::Available(found.swap_remove(at)),
        None => found.into_iter().next().map_or(Found::Nothing, Found::Unfinished),
    })
}

fn missing(site: &Site, wanted: spec::Architecture) -> Cause {
    let message =
        format!("the project holds no snapshot of Talos {} for {wanted}", site.plan.talos);
    let labels = text(&site.wanted().image_labels());
    Cause::new(codes::NO_IMAGE, message)
        .because([format!("looked for snapshots with the labels {labels}")])
        .next(explain(codes::NO_IMAGE), "tells how to make one")
}

fn text(labels: &Labels) -> String {
    let pairs: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(", ")
}

/// Returns the cause where a snapshot fits on no disk that a node may get.
fn too_large(
    site: &Site,
    wanted: spec::Architecture,
    image: &Image,
    types: &[ServerType],
) -> Option<Cause> {
    let disk = |name: &str| types.iter().find(|it| it.name == name).map(|it| it.disk);
    // What is not listed is the business of `preflight`.
    let fits = |name: &str| disk(name).is_none_or(|disk| f64::from(disk) >= image.disk_size);
    let of = |node: &&NodePlan| {
        let mut all = offers(node).iter();
        all.any(|offer| offer.server_type.architecture() == wanted)
    };
    let fails =
        |node: &&NodePlan| offers(node).iter().all(|offer| !fits(&offer.server_type.to_string()));
    let node = site.plan.nodes.iter().filter(of).find(fails)?;
    let message = format!(
        "snapshot {} needs a disk of {} GB, more than {} gets",
        image.id, image.disk_size, node.name
    );
    let line = |offer: &spec::plan::Offer| {
        let name = offer.server_type.to_string();
        Some(format!("{name} has a disk of {} GB", disk(&name)?))
    };
    let cause = Cause::new(codes::NO_IMAGE, message)
        .because(offers(node).iter().filter_map(line))
        .next(explain(codes::NO_IMAGE), "tells how to make one on the smallest server type");
    Some(cause)
}
