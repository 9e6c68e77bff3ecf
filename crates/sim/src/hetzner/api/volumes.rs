//! Ordering, attaching and detaching volumes.

use serde::Deserialize;
use serde_json::json;

use super::call::{Call, Changed, IdOrName, Reply};
use super::generic::{check, missing, started, subject};
use crate::hetzner::action::{Reference, Step};
use crate::hetzner::catalog;
use crate::hetzner::project::Project;
use crate::hetzner::refusal::{Code, Refusal};
use crate::hetzner::resources::{Server, Volume};
use crate::hetzner::selector::Labels;

/// `POST /volumes`
pub(super) fn create(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        name: String,
        size: u32,
        server: Option<i64>,
        location: Option<IdOrName>,
        labels: Option<Labels>,
        format: Option<String>,
        automount: Option<bool>,
    }
    let Order { name, size, server, location, labels, format, automount } = call.read()?;
    refuse_automount(automount)?;
    if !(10..=10_240).contains(&size) {
        return Err(Refusal::invalid("size", "must be 10 to 10240 gigabytes"));
    }
    let location = match (server, location) {
        (Some(server), None) => missing::<Server>(project, server)?.location,
        (None, Some(location)) => catalog::order(&location.text())?,
        _ => return Err(Refusal::invalid("location", "give either a location or a server")),
    };
    let card = project.new_card::<Volume>(&name, labels)?;
    let id = card.id;
    project.volumes.put(Volume { card, size, location, server: None, format, ready: false });
    let takes = project.delays.change_volume;
    let create = Step::new("create_volume", &[Reference::to::<Volume>(id)], takes)
        .then(move |project| set(project, id, |volume| volume.ready = true))
        .or_else(move |project| drop(project.volumes.remove(id)));
    let mut steps = vec![create];
    steps.extend(server.map(|server| attaching(id, server, project)));
    let mut actions = project.start(steps);
    let action = actions.remove(0);
    let volume = project.view::<Volume>(id)?;
    let body = json!({ "volume": volume, "action": action, "next_actions": actions });
    Ok(Reply::created(body).about(subject::<Volume>(project, id)))
}

/// `POST /volumes/{id}/actions/attach`
pub(super) fn attach(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        server: i64,
        automount: Option<bool>,
    }
    let Order { server, automount } = call.read()?;
    refuse_automount(automount)?;
    check::<Volume>(project, call.id())?;
    let volume = project.volumes.get(call.id())?;
    if volume.server.is_some() {
        return Err(Code::VolumeAlreadyAttached.because("volume is attached, detach it first"));
    }
    if missing::<Server>(project, server)?.location != volume.location {
        return Err(Refusal::invalid("server", "must be in the volume's location"));
    }
    let step = attaching(call.id(), server, project);
    Ok(started::<Volume>(project, call.id(), step))
}

/// `POST /volumes/{id}/actions/detach`
pub(super) fn detach(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let id = call.id();
    check::<Volume>(project, id)?;
    if project.volumes.get(id)?.server.is_none() {
        return Err(Refusal::invalid("server", "the volume is not attached"));
    }
    let step =
        Step::new("detach_volume", &[Reference::to::<Volume>(id)], project.delays.change_volume);
    let step = step.then(move |project| set(project, id, |volume| volume.server = None));
    Ok(started::<Volume>(project, id, step))
}

/// `POST /volumes/{id}/actions/resize`
pub(super) fn resize(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    #[derive(Deserialize)]
    struct Order {
        size: u32,
    }
    let Order { size } = call.read()?;
    let id = call.id();
    check::<Volume>(project, id)?;
    if size <= project.volumes.get(id)?.size || size > 10_240 {
        return Err(Refusal::invalid("size", "must be larger than before, up to 10240"));
    }
    let step =
        Step::new("resize_volume", &[Reference::to::<Volume>(id)], project.delays.change_volume);
    let step = step.then(move |project| set(project, id, move |volume| volume.size = size));
    Ok(started::<Volume>(project, id, step))
}

/// What is mounted inside a machine is nothing that a simulated one shows.
fn refuse_automount(wanted: Option<bool>) -> Result<(), Refusal> {
    if wanted == Some(true) { Err(Refusal::not_implemented("automount")) } else { Ok(()) }
}

fn attaching(id: i64, server: i64, project: &Project) -> Step {
    let resources = [Reference::to::<Volume>(id), Reference::to::<Server>(server)];
    Step::new("attach_volume", &resources, project.delays.change_volume).then(move |project| {
        let there = project.servers.find(server).is_some();
        set(project, id, move |volume| volume.server = there.then_some(server));
    })
}

fn set(project: &mut Project, id: i64, change: impl FnOnce(&mut Volume)) {
    if let Some(volume) = project.volumes.find_mut(id) {
        change(volume);
    }
}
