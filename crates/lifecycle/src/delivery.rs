//! Bringing objects to a cluster: in their order, each object by one journaled
//! call, and none where nothing would change.

use engine::{ActError, Hands, SendError, Sight};
use events::Failure;
use objects::{ApiError, Change, Cluster, Need, Object, Order, Ownership, Status};

use crate::{Site, kube};

/// Applies objects, and stops at one that waits for another which is not ready
/// yet: the next try goes on there.
pub(crate) async fn apply(
    site: &Site,
    hands: &Hands,
    objects: Vec<Object>,
) -> Result<(), ActError> {
    let cluster = kube::any(site).await?;
    let order = Order::of(objects).map_err(|error| Failure::permanent(error.to_string()))?;
    let mut ready = vec![false; order.objects().len()];
    for place in order.sequence() {
        for wait in order.waits_for(*place) {
            if wait.need == Need::Ready && !ready[wait.object] {
                is_ready(&cluster, &order.objects()[wait.object]).await?;
                ready[wait.object] = true;
            }
        }
        one(&cluster, hands, &order.objects()[*place]).await?;
    }
    Ok(())
}

async fn one(cluster: &Cluster, hands: &Hands, object: &Object) -> Result<(), ActError> {
    let live = cluster.get(object.id()).await.map_err(|error| error.failure())?;
    let before = live.as_ref().and_then(Object::version);
    let look = async |_| match cluster.preview(object, Ownership::Respect, live.as_ref()).await {
        Ok(same) if same.change == Change::Unchanged => Ok(Sight::There(same.made())),
        Ok(_) => Ok(Sight::NotThere),
        Err(error) => Err(error.failure().into()),
    };
    let (client, wanted) = (cluster.clone(), object.clone());
    let send = move |permit| async move {
        let applied = client.apply(permit, &wanted, Ownership::Respect, before.as_ref()).await;
        applied.map(|applied| applied.made()).map_err(|error| send_error(&error))
    };
    hands.ensure(Cluster::apply_call(object), look, send).await?;
    Ok(())
}

async fn is_ready(cluster: &Cluster, object: &Object) -> Result<(), ActError> {
    let live = cluster.get(object.id()).await.map_err(|error| error.failure())?;
    match live.as_ref().map(Status::of) {
        Some(Status::Ready) => Ok(()),
        _ => Err(Failure::transient(format!("{} is not ready yet", object.id())).into()),
    }
}

fn send_error(error: &ApiError) -> SendError {
    SendError::new(error.failure(), error.arrival())
}
