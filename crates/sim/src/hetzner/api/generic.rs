//! The calls that all kinds of resources have.

use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, Changed, Reply};
use super::list;
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::Server;
use crate::hetzner::selector::{Labels, check_labels};
use crate::hetzner::shelf::Resource;

/// `GET /{plural}`
pub(super) fn list<T: Resource>(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let views = T::shelf(project).iter().map(|it| it.view(project)).collect();
    list::answer(T::PLURAL, T::FILTERS, views, call)
}

/// `GET /{plural}/{id}`
pub(super) fn get<T: Resource>(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    Ok(Reply::ok(json!({ T::KIND: project.view::<T>(call.id())? })))
}

/// `PUT /{plural}/{id}`: the name and the labels.
pub(super) fn update<T: Resource>(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Update {
        name: Option<String>,
        labels: Option<Labels>,
    }
    let Update { name, labels } = call.read()?;
    T::shelf(project).get(call.id())?;
    if let Some(name) = &name {
        T::shelf(project).check_name(name, Some(call.id()))?;
    }
    check_labels(labels.as_ref().unwrap_or(&Labels::new()))?;
    let card = T::shelf_mut(project).get_mut(call.id())?.card_mut();
    card.name = name.unwrap_or_else(|| card.name.clone());
    card.labels = labels.unwrap_or_else(|| card.labels.clone());
    updated::<T>(project, call.id())
}

/// Answers with a resource that was changed.
pub(super) fn updated<T: Resource>(project: &Project, id: i64) -> Result<Changed, Refusal> {
    let view = project.view::<T>(id)?;
    Ok(Reply::ok(json!({ T::KIND: view })).about(subject::<T>(project, id)))
}

/// `DELETE /{plural}/{id}`, for what goes at once.
pub(super) fn delete<T: Resource>(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let id = call.id();
    T::shelf(project).deletable(id)?.check_unused(project)?;
    project.check_idle::<T>(id)?;
    let subject = subject::<T>(project, id);
    if let Some(resource) = T::shelf_mut(project).remove(id) {
        resource.removed(project);
    }
    Ok(Reply::no_content().about(subject))
}

/// `POST /{plural}/{id}/actions/change_protection`
pub(super) fn protect<T: Resource>(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Protection {
        delete: Option<bool>,
        rebuild: Option<bool>,
    }
    let Protection { delete, rebuild } = call.read()?;
    let delete = delete.ok_or_else(|| Refusal::invalid("delete", "is required"))?;
    // Only servers have both, and the API wants them to be equal.
    let expected = (T::KIND == Server::KIND).then_some(delete);
    if rebuild != expected {
        return Err(Refusal::invalid("rebuild", "must be the same as delete"));
    }
    let (id, takes) = (call.id(), project.delays.note);
    T::shelf_mut(project).get_mut(id)?.card_mut().protected = delete;
    let step = Step::new("change_protection", &[Reference::to::<T>(id)], takes);
    Ok(started::<T>(project, id, step))
}

/// Refuses an action on something that is absent, or busy already.
pub(super) fn check<T: Resource>(project: &Project, id: i64) -> Result<(), Refusal> {
    T::shelf(project).get(id)?;
    project.check_idle::<T>(id)
}

/// Starts an action and answers with it.
pub(super) fn started<T: Resource>(project: &mut Project, id: i64, step: Step) -> Changed {
    let subject = subject::<T>(project, id);
    Reply::created(json!({ "action": project.start_one(step) })).about(subject)
}

/// Answers the creation of a resource that is there at once.
pub(super) fn created<T: Resource>(
    project: &Project,
    id: i64,
    more: Option<(&str, Value)>,
) -> Result<Changed, Refusal> {
    let mut body = json!({ T::KIND: project.view::<T>(id)? });
    if let Some((key, value)) = more {
        body[key] = value;
    }
    Ok(Reply::created(body).about(subject::<T>(project, id)))
}

/// Names a resource for the record of effects.
pub(super) fn subject<T: Resource>(project: &Project, id: i64) -> String {
    let name = T::shelf(project).find(id).map_or("", |it| it.card().name.as_str());
    if name.is_empty() { format!("{} {id}", T::KIND) } else { format!("{} {name}", T::KIND) }
}

/// Says that something which an order names is not there.
pub(super) fn missing<T: Resource>(project: &Project, id: i64) -> Result<&T, Refusal> {
    let message = format!("{} {id} does not exist", T::KIND);
    T::shelf(project).find(id).ok_or_else(|| Code::NotFound.because(message))
}
