//! Waiting for what others in the set stand on.

use super::Means;
use super::pace::{Hope, Pace};
use crate::{ApiError, Cluster, Kind, Object, ObjectId, Scope, Sighting, Status, Watch};

/// Waits until an object is ready, or says why it is not.
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
    let judge = |objects: &[Object]| match objects.first().map(Status::of) {
        Some(Status::Ready) => Ok(()),
        Some(status) => Err(status.to_string()),
        None => Err("it is not there".to_owned()),
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
                return Ok(());
            }
        }
        Err(format!("0 of {count} are ready"))
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
    judge: impl Fn(&[Object]) -> Result<(), String>,
) -> Result<(), String> {
    let mut seen: Vec<Object> = Vec::new();
    let mut because = "nothing was seen of it".to_owned();
    let mut tries = 0;
    loop {
        let sighting = tokio::select! {
            sighting = watch.next() => sighting,
            () = means.clock.sleep(pace.left()) => return Err(because),
            () = means.cancel.cancelled() => return Err("the work was ended".to_owned()),
        };
        match sighting {
            Ok(sighting) => {
                tries = 0;
                take(&mut seen, sighting);
                match judge(&seen) {
                    Ok(()) => return Ok(()),
                    Err(missing) => {
                        means.waits_for(whose, &missing);
                        because = missing;
                    }
                }
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
