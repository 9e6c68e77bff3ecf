//! Waiting for what others in the set stand on.

use std::time::Duration;

use super::Means;
use super::pace::{Hope, Pace};
use crate::{ApiError, Cluster, Kind, Object, ObjectId, Scope, Sighting, Status, Watch};

/// What says nothing is given so long once nobody else is waited for, as in a
/// wait: whoever is to speak for it may be among the others.
const GRACE: Duration = Duration::from_secs(30);

/// How something stands that is waited for.
enum Stand {
    Ready,
    NotYet(String),
    /// It says nothing by which to tell.
    Untold(String),
}

/// Waits until an object is ready, or says why it is not. What was defined
/// without a status is ready once it is there.
pub(super) async fn ready(
    cluster: &Cluster,
    means: &Means,
    pace: &Pace,
    id: &ObjectId,
) -> Result<(), String> {
    let mut scope = Scope::all(id.kind.clone()).named(&id.name);
    if let Some(namespace) = &id.namespace {
        scope = scope.within(namespace);
    }
    let tells = cluster.tells_status(&id.kind).await;
    let judge = |objects: &[Object]| match objects.first().map(Status::of) {
        Some(Status::Ready) => Stand::Ready,
        Some(Status::Unknown { .. }) if !tells => Stand::Ready,
        Some(status @ Status::Unknown { .. }) => Stand::Untold(status.to_string()),
        Some(status) => Stand::NotYet(status.to_string()),
        None => Stand::NotYet("it is not there".to_owned()),
    };
    let ended = until(cluster.watch(scope), means, pace, id, judge).await;
    means.goes_on(id);
    ended
}

/// Waits until a service has an endpoint that answers, or says why it has none.
pub(super) async fn endpoint(
    cluster: &Cluster,
    means: &Means,
    pace: &Pace,
    namespace: &str,
    service: &str,
) -> Result<(), String> {
    let slices = Kind::new("discovery.k8s.io/v1", "EndpointSlice").expect("a kind of Kubernetes");
    let label = format!("kubernetes.io/service-name={service}");
    let scope = Scope::all(slices).within(namespace).labelled(label);
    let judge = |slices: &[Object]| {
        let endpoints = slices.iter().flat_map(|slice| slice.items("/endpoints"));
        let mut count = 0;
        for endpoint in endpoints {
            count += 1;
            // Not to say whether it is ready is to be ready.
            if endpoint["conditions"]["ready"] != false {
                return Stand::Ready;
            }
        }
        Stand::NotYet(format!("0 of {count} are ready"))
    };
    let whose = format!("endpoints of service {service} in namespace {namespace}");
    let ended = until(cluster.watch(scope), means, pace, &whose, judge).await;
    means.goes_on(&whose);
    ended
}

/// Watches until the objects in sight are as they should be.
async fn until(
    mut watch: Watch,
    means: &Means,
    pace: &Pace,
    whose: &impl ToString,
    judge: impl Fn(&[Object]) -> Stand,
) -> Result<(), String> {
    let mut seen: Vec<Object> = Vec::new();
    let mut because = "nothing was seen of it".to_owned();
    let (mut tries, mut untold_since) = (0, None);
    loop {
        let now = means.clock.elapsed();
        if means.waits_for_others(whose) {
            untold_since = untold_since.map(|_| now);
        }
        let silence = untold_since.map(|since| (since + GRACE).saturating_sub(now));
        let sighting = tokio::select! {
            sighting = watch.next() => sighting,
            () = means.clock.sleep(silence.unwrap_or(Duration::MAX).min(pace.left())) => {
                if means.waits_for_others(whose) && !pace.left().is_zero() {
                    continue;
                }
                return Err(because);
            }
            () = means.cancel.cancelled() => return Err("the work was ended".to_owned()),
        };
        match sighting {
            Ok(sighting) => {
                tries = 0;
                take(&mut seen, sighting);
                let missing = match judge(&seen) {
                    Stand::Ready => return Ok(()),
                    Stand::NotYet(missing) => {
                        untold_since = None;
                        missing
                    }
                    Stand::Untold(missing) => {
                        untold_since = untold_since.or(Some(means.clock.elapsed()));
                        missing
                    }
                };
                means.waits_for(whose, &missing);
                because = missing;
            }
            Err(error) => again(means, pace, &error, tries).await?,
        }
        tries += 1;
    }
}

/// Pauses before the watch goes on, or gives up.
async fn again(means: &Means, pace: &Pace, error: &ApiError, tries: u32) -> Result<(), String> {
    let pause = pace.after(error, Hope::Fresh, tries).ok_or_else(|| error.to_string())?;
    if means.pause_after(error, pause).await {
        Ok(())
    } else {
        Err("the work was ended".to_owned())
    }
}

fn take(seen: &mut Vec<Object>, sighting: Sighting) {
    match sighting {
        Sighting::Everything(objects) => *seen = objects,
        Sighting::Gone(object) => seen.retain(|one| one.uid() != object.uid()),
        Sighting::Changed(object) => {
            seen.retain(|one| one.uid() != object.uid());
            seen.push(object);
        }
    }
}
