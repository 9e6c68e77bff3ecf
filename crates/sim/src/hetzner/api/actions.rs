//! Looking at actions.

use serde_json::{Value, json};

use super::call::{Call, Reply};
use super::list;
use crate::hetzner::action::{self, Action, Reference};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::shelf::Resource;

/// `GET /actions?id=…`
pub(super) fn by_id(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let ids: Vec<i64> = call.values("id").filter_map(|id| id.parse().ok()).collect();
    if ids.is_empty() {
        return Err(Refusal::gone(
            "https://docs.hetzner.cloud/changelog#2024-11-29-actions",
            "listing all actions was removed; name ids",
        ));
    }
    let wanted = project.actions.values().filter(|action| ids.contains(&action.id));
    answer(wanted, call)
}

/// `GET /actions/{id}`, also below a kind of resource.
pub(super) fn get(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let id = call.ids.last().copied().unwrap_or_default();
    Ok(Reply::ok(json!({ "action": action::find(project, id)?.view() })))
}

/// `GET /{plural}/{id}/actions`
pub(super) fn of_one<T: Resource>(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let subject = Reference::to::<T>(call.id());
    let ours: Vec<&Action> = project.actions.values().filter(|it| it.concerns(subject)).collect();
    // What was deleted keeps its actions, so only the unknown is refused.
    if ours.is_empty() {
        T::shelf(project).get(call.id())?;
    }
    answer(ours.into_iter(), call)
}

/// `GET /{plural}/actions`
pub(super) fn of_kind<T: Resource>(project: &Project, call: &Call) -> Result<Reply, Refusal> {
    let concerns = |it: &&Action| it.resources.iter().any(|it| it.kind == T::KIND);
    answer(project.actions.values().filter(concerns), call)
}

fn answer<'a>(actions: impl Iterator<Item = &'a Action>, call: &Call) -> Result<Reply, Refusal> {
    let views: Vec<Value> = actions.map(Action::view).collect();
    list::answer("actions", &["status", "id"], views, call)
}
