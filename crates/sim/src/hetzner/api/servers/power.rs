//! Power, console, deletion.

use std::time::Duration;

use serde_json::json;

use crate::hetzner::action::{Reference, Step};
use crate::hetzner::api::generic::{check, started, subject};
use crate::hetzner::api::{Call, Changed, Reply};
use crate::hetzner::project::Project;
use crate::hetzner::refusal::Refusal;
use crate::hetzner::resources::{Server, Status};

/// `POST /servers/{id}/actions/poweron`
pub(in crate::hetzner::api) fn on(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    check::<Server>(project, call.id())?;
    if project.servers.get(call.id())?.status == Status::Running {
        let step = step(call.id(), "start_server", project.delays.note);
        return Ok(started::<Server>(project, call.id(), step));
    }
    let takes = project.delays.start_server;
    switch(project, call, "start_server", takes, [Status::Starting, Status::Running])
}

/// `POST /servers/{id}/actions/poweroff`
pub(in crate::hetzner::api) fn off(project: &mut Project, call: &Call) -> Result<Changed, Refusal> {
    let takes = project.delays.note;
    switch(project, call, "stop_server", takes, [Status::Stopping, Status::Off])
}

/// `POST /servers/{id}/actions/shutdown`
pub(in crate::hetzner::api) fn shutdown(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let takes = project.delays.stop_server;
    switch(project, call, "shutdown_server", takes, [Status::Stopping, Status::Off])
}

/// `POST /servers/{id}/actions/reboot`
pub(in crate::hetzner::api) fn reboot(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let takes = project.delays.stop_server + project.delays.start_server;
    switch(project, call, "reboot_server", takes, [Status::Off, Status::Running])
}

/// `POST /servers/{id}/actions/reset`
pub(in crate::hetzner::api) fn reset(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let takes = project.delays.start_server;
    switch(project, call, "reset_server", takes, [Status::Off, Status::Running])
}

/// `POST /servers/{id}/actions/request_console`
pub(in crate::hetzner::api) fn console(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    check::<Server>(project, call.id())?;
    let password = project.random_hex();
    let step = step(call.id(), "request_console", project.delays.note);
    let body = json!({
        "action": project.start_one(step),
        "wss_url": format!("wss://console.example.com/?server_id={}", call.id()),
        "password": password,
    });
    Ok(Reply::created(body).about(subject::<Server>(project, call.id())))
}

/// `DELETE /servers/{id}`
pub(in crate::hetzner::api) fn delete(
    project: &mut Project,
    call: &Call,
) -> Result<Changed, Refusal> {
    let id = call.id();
    project.servers.deletable(id)?;
    check::<Server>(project, id)?;
    project.power(id, Status::Deleting);
    let step = step(id, "delete_server", project.delays.delete_server)
        .then(move |project| project.remove_server(id));
    let subject = subject::<Server>(project, id);
    Ok(Reply::ok(json!({ "action": project.start_one(step) })).about(subject))
}

/// Changes the power at the beginning and at the end of an action.
fn switch(
    project: &mut Project,
    call: &Call,
    command: &'static str,
    takes: Duration,
    [first, then]: [Status; 2],
) -> Result<Changed, Refusal> {
    let id = call.id();
    check::<Server>(project, id)?;
    let step = step(id, command, takes)
        .first(move |project| project.power(id, first))
        .then(move |project| project.power(id, then));
    Ok(started::<Server>(project, id, step))
}

fn step(id: i64, command: &'static str, takes: Duration) -> Step {
    Step::new(command, &[Reference::to::<Server>(id)], takes)
}
