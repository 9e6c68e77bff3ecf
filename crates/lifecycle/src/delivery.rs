//! Bringing objects to a cluster: in layers, each object by one journaled call,
//! and none where nothing would change.

use engine::{ActError, Hands, SendError, Sight};
use events::Failure;
use futures::stream::{self, StreamExt as _};
use objects::{ApiError, Change, Cluster, Object, Ownership, Rank, Status, layers};

use crate::{Site, kube};

/// How many objects of a layer are under way at the same time.
const AT_ONCE: usize = 8;

/// Applies objects, and stops at a layer whose kinds are not established yet:
/// the next try goes on there.
pub(crate) async fn apply(
    site: &Site,
    hands: &Hands,
    objects: Vec<Object>,
) -> Result<(), ActError> {
    let cluster = kube::any(site).await?;
    let layers = layers(objects).map_err(|error| Failure::permanent(error.to_string()))?;
    for layer in layers {
        let calls: Vec<_> =
            layer.objects.iter().map(|object| one(&cluster, hands, object)).collect();
        // All come to their end, so that none is left in doubt by another's failure.
        let ends: Vec<_> = stream::iter(calls).buffer_unordered(AT_ONCE).collect().await;
        ends.into_iter().collect::<Result<(), _>>()?;
        if layer.rank == Rank::Definitions {
            established(&cluster, &layer.objects).await?;
        }
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

async fn established(cluster: &Cluster, definitions: &[Object]) -> Result<(), ActError> {
    for definition in definitions {
        let live = cluster.get(definition.id()).await.map_err(|error| error.failure())?;
        let is_ready = live.as_ref().is_some_and(|live| Status::of(live).is_ready());
        if !is_ready {
            let words = format!("{} is not established yet", definition.id());
            return Err(Failure::transient(words).into());
        }
    }
    Ok(())
}

fn send_error(error: &ApiError) -> SendError {
    SendError::new(error.failure(), error.arrival())
}
