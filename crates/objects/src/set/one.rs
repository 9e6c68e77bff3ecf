//! One object of a set: what stands in its way, then one request.

use events::{Arrival, Call, CallClass};
use http::Method;

use super::look::{self, Sight, comes_with_the_set, get};
use super::pace::{Hope, Pace};
use super::repair::Repair;
use super::report::{Outcome, StepError, There};
use super::run::Run;
use super::untried::is_untried;
use super::{Means, Mode, gate, precondition, taken};
use crate::request::{Answer, Ask};
use crate::{ApiError, Applied, Change, Cluster, FIELD_MANAGER, Meant, Object, Trouble, Version};

/// How often an object that changes all the time is looked at again.
const LOOKS: usize = 10;

impl Run {
    /// Brings the object at a place to what is wished.
    pub(super) async fn one(&self, place: usize, sight: Sight) -> Outcome {
        let done = match (sight, self.settings.mode) {
            (Sight::Same(version), _) => Ok(There::unchanged(version)),
            (sight, Mode::ForReal) => self.send(place, sight).await,
            (sight, Mode::DryRun) => self.preview(place, sight).await,
        };
        done.map_or_else(Outcome::Failed, Outcome::There)
    }

    async fn send(&self, place: usize, sight: Sight) -> Result<There, StepError> {
        let object = &self.order.objects()[place];
        let (mut before, repair, footprint) = match sight {
            Sight::Absent => (None, None, None),
            Sight::Same(version) => (Some(version), None, None),
            Sight::There { version, repair, footprint, .. } => (Some(version), repair, footprint),
        };
        if before.is_none() {
            self.webhooks_answer(object).await?;
        }
        let repaired = repair.is_some();
        if let Some(repair) = repair {
            self.would_be_granted(object, &repair).await?;
            before = self.repair(object, repair).await?.or(before);
        }
        let applied = self.apply(place, before).await?;
        self.recall.learn(footprint.map(|it| *it), &applied.object);
        Ok(There { repaired, ..There::of(applied) })
    }

    /// Applies what was seen in a state, or makes what was not there: the request
    /// says which of both is meant, so that nothing is adopted by accident.
    async fn apply(&self, place: usize, seen: Option<Version>) -> Result<Applied, StepError> {
        let object = &self.order.objects()[place];
        let hope = if self.order.waits_for(place).is_empty() { Hope::Usual } else { Hope::Fresh };
        let mut tries = self.pace.tries(hope);
        let (mut in_doubt, mut looked_again, mut looks) = (false, false, 0);
        let (was_there, mut before) = (seen.is_some(), seen);
        loop {
            tries.turn().await;
            let (permit, receipt) = self.means.permit(Cluster::apply_call(object));
            let meant =
                before.as_ref().map_or(Meant::Absent, |before| match precondition::state(object) {
                    Some(_) => Meant::State(before),
                    None => Meant::Life(before),
                });
            let sent = self.cluster.apply_to(permit, object, self.settings.ownership, meant).await;
            self.means.close(receipt, &sent);
            match sent {
                Ok(applied) if was_there => return Ok(applied),
                Ok(applied) => return Ok(appeared(applied, in_doubt)),
                Err(error) if looks < LOOKS && matches!(error.trouble(), Trouble::Changed(_)) => {
                    looks += 1;
                    before = self.meet(object, before, error).await?;
                }
                Err(error) if !looked_again && is_about_a_version_that_is_gone(&error) => {
                    looked_again = true;
                    self.look_again(object).await?;
                }
                Err(error) => {
                    in_doubt |= error.arrival() == Arrival::Maybe;
                    tries.again(error).await?;
                }
            }
        }
    }

    /// Somebody has changed the object since we looked, or has made one: looks
    /// again whether it is the one that is meant, and may be ours.
    async fn meet(
        &self,
        object: &Object,
        before: Option<Version>,
        error: ApiError,
    ) -> Result<Option<Version>, StepError> {
        let live = get(&self.cluster, &self.pace, object.id()).await?;
        match (before, live) {
            // Whoever made it has taken it back.
            (None, None) => Ok(None),
            (None, Some(live)) => {
                look::may_change(object, &live, self.settings.adopt, self.inventory.as_deref())?;
                match look::repair(&self.cluster, object, &live) {
                    Some(repair) => {
                        self.would_be_granted(object, &repair).await?;
                        Ok(self.repair(object, repair).await?.or(live.version()))
                    }
                    None => Ok(live.version()),
                }
            }
            (Some(before), Some(live)) if live.uid() == Some(before.uid.as_str()) => {
                match precondition::state(object) {
                    Some(wanted) => Err(StepError::Precondition {
                        field: "resourceVersion",
                        wanted: wanted.to_owned(),
                        found: live.version().map(|version| version.resource_version),
                    }),
                    None => Ok(live.version()),
                }
            }
            (Some(_), _) => Err(error.into()),
        }
    }

    /// A version that was served when we asked is not any more: asks again, and
    /// puts the managers of the object in order by that.
    async fn look_again(&self, object: &Object) -> Result<(), ApiError> {
        self.cluster.forget_resources();
        self.cluster.resource(object.kind()).await?;
        let Some(live) = get(&self.cluster, &self.pace, object.id()).await? else { return Ok(()) };
        if let Some(repair) = look::repair(&self.cluster, object, &live) {
            self.repair(object, repair).await?;
        }
        Ok(())
    }

    /// A webhook that nobody answers stops the requests of everybody. One that
    /// is there already does so already.
    async fn webhooks_answer(&self, object: &Object) -> Result<(), StepError> {
        if object.kind().group != "admissionregistration.k8s.io" {
            return Ok(());
        }
        for webhook in object.items("/webhooks") {
            let service = &webhook["clientConfig"]["service"];
            let (Some(namespace), Some(name)) =
                (service["namespace"].as_str(), service["name"].as_str())
            else {
                continue;
            };
            let wait = gate::endpoint(&self.cluster, &self.means, &self.pace, namespace, name);
            wait.await.map_err(|because| StepError::NoEndpoint {
                namespace: namespace.to_owned(),
                service: name.to_owned(),
                because,
            })?;
        }
        Ok(())
    }

    /// An apply that is refused must not have made anything ours before.
    async fn would_be_granted(&self, object: &Object, repair: &Repair) -> Result<(), ApiError> {
        // Entries that the API cannot convert make every dry run fail.
        if repair.taken().is_empty() {
            return Ok(());
        }
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            let ownership = self.settings.ownership;
            match taken::try_out(&self.cluster, object, None, Some(repair), ownership).await {
                Ok(_) => return Ok(()),
                Err(error) if is_about_a_version_that_is_gone(&error) => return Ok(()),
                // Nobody can ask beforehand.
                Err(error) if is_untried(&error) => return Ok(()),
                Err(error) => tries.again(error).await?,
            }
        }
    }

    /// Puts the managers of an object in order, and returns its state after it.
    /// Controllers may be at work on it meanwhile: then it is looked at again.
    async fn repair(
        &self,
        object: &Object,
        mut repair: Repair,
    ) -> Result<Option<Version>, ApiError> {
        let mut looks = 0;
        loop {
            let error = match self.send_repair(object, &repair).await {
                Err(error) if matches!(error.trouble(), Trouble::Changed(_)) => error,
                sent => return sent,
            };
            looks += 1;
            let live = get(&self.cluster, &self.pace, object.id()).await?;
            let live = live.filter(|live| live.uid() == Some(repair.uid()) && looks < LOOKS);
            let Some(live) = live else { return Err(error) };
            match look::repair(&self.cluster, object, &live) {
                Some(next) => repair = next,
                None => return Ok(live.version()),
            }
        }
    }

    async fn send_repair(
        &self,
        object: &Object,
        repair: &Repair,
    ) -> Result<Option<Version>, ApiError> {
        let (id, body) = (object.id(), repair.patch().to_string());
        let tried = format!("take over the fields of {id}");
        let resource = self.cluster.resource(object.kind()).await?;
        let call = Call::new(CallClass::Idempotent, "take over", id.to_string(), body.as_bytes());
        let ask = Ask::new(Method::PATCH, resource.path_of(&self.cluster, id), &tried)
            .with("fieldManager", FIELD_MANAGER)
            .sending("application/json-patch+json", body);
        let answer = send(&self.cluster, &self.means, &self.pace, &call, &ask).await?;
        Ok(Object::new(answer.json(&tried)?).ok().and_then(|live| live.version()))
    }

    async fn preview(&self, place: usize, sight: Sight) -> Result<There, StepError> {
        let object = &self.order.objects()[place];
        let (live, repair) = match sight {
            Sight::There { live, repair, .. } => (live, repair),
            Sight::Absent | Sight::Same(_) => (None, None),
        };
        let (live, ownership) = (live.as_deref(), self.settings.ownership);
        let mut tries = self.pace.tries(Hope::Usual);
        loop {
            tries.turn().await;
            match taken::try_out(&self.cluster, object, live, repair.as_ref(), ownership).await {
                Ok(applied) => return Ok(There::of(applied)),
                Err(error) if comes_with_the_set(&self.order, place, &error) => {
                    return Ok(There::unchecked(&error));
                }
                Err(error) if is_untried(&error) => {
                    let version = live.and_then(Object::version);
                    let change = version.as_ref().map_or(Change::Created, |_| Change::Configured);
                    return Ok(There { change, version, ..There::unchecked(&error) });
                }
                Err(error) => tries.again(error).await?,
            }
        }
    }
}

/// The API has no structured way to say so.
fn is_about_a_version_that_is_gone(error: &ApiError) -> bool {
    let Trouble::Unavailable { message, .. } = error.trouble() else { return false };
    message.contains("request to convert CR to an invalid group/version")
}

/// An object that was not there when we looked, and was when the request came:
/// an earlier try of ours has made it, or somebody else.
fn appeared(applied: Applied, in_doubt: bool) -> Applied {
    match applied.change {
        Change::Created => applied,
        Change::Unchanged if !in_doubt => applied,
        _ if in_doubt => Applied { change: Change::Created, ..applied },
        _ => {
            let mut warnings = applied.warnings;
            warnings.push("it appeared after we had looked, and was changed".to_owned());
            Applied { warnings, ..applied }
        }
    }
}

/// Sends a permitted request, as often as it takes.
pub(super) async fn send(
    cluster: &Cluster,
    means: &Means,
    pace: &Pace,
    call: &Call,
    ask: &Ask,
) -> Result<Answer, ApiError> {
    let mut tries = pace.tries(Hope::Usual);
    loop {
        tries.turn().await;
        let (_permit, receipt) = means.permit(call.clone());
        let sent = cluster.send(ask.clone()).await;
        means.close(receipt, &sent);
        match sent {
            Ok(answer) => return Ok(answer),
            Err(error) => tries.again(error).await?,
        }
    }
}

// === impl There ===

impl There {
    fn unchanged(version: Version) -> Self {
        let warnings = Vec::new();
        Self { change: Change::Unchanged, version: Some(version), repaired: false, warnings }
    }

    fn of(applied: Applied) -> Self {
        let Applied { object, change, warnings } = applied;
        Self { change, version: object.version(), repaired: false, warnings }
    }

    fn unchecked(error: &ApiError) -> Self {
        let warnings = vec![format!("not checked: {}", error.trouble())];
        Self { change: Change::Created, version: None, repaired: false, warnings }
    }
}
