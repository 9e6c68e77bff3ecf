//! Credential plugins: commands that print an `ExecCredential`.
//!
//! A plugin is a program of somebody else: how long it runs and how much it
//! prints is bounded, and where nobody is there to be asked it runs in a process
//! group of its own, so that all of it can be ended.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use events::io_reason;
use kube::config::{ExecAuthCluster, ExecConfig, ExecInteractiveMode};
use peers::bounds;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use crate::NoCredential;

/// The end of what a plugin says on its error output is kept: that is where a
/// stack trace says why.
const SAID: usize = 64 << 10;

/// What a plugin printed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Printed {
    pub(super) expiration_timestamp: Option<String>,
    pub(super) token: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<String>,
}

#[derive(Deserialize)]
struct ExecCredential {
    status: Option<Printed>,
}

/// A plugin that is running. Dropped before its end, it is killed.
struct Running {
    child: Child,
    /// The process group, where it has one of its own.
    group: Option<Pid>,
}

/// What became of a plugin.
struct Ended {
    status: ExitStatus,
    printed: Vec<u8>,
    said: Vec<u8>,
}

/// Runs a plugin, for no longer than `within` and its own bound.
pub(super) async fn run(
    exec: &ExecConfig,
    within: Option<Duration>,
) -> Result<Printed, NoCredential> {
    let name = exec.command.clone().ok_or(NoCredential::NoCommand)?;
    let attended = exec.interactive_mode != Some(ExecInteractiveMode::Never);
    let bound = if attended { bounds::PLUGIN_TIME_ATTENDED } else { bounds::PLUGIN_TIME };
    let bound = within.map_or(bound, |within| within.min(bound));
    let mut running = Running::start(exec, &name, attended)?;
    let Ok(ended) = tokio::time::timeout(bound, running.end(&name)).await else {
        return Err(NoCredential::TooSlow { command: name, after: bound });
    };
    let ended = ended?;
    if !ended.status.success() {
        return Err(NoCredential::failed(name, ended.status, &ended.said));
    }
    read(&name, &ended.printed)
}

impl Running {
    fn start(exec: &ExecConfig, name: &str, attended: bool) -> Result<Self, NoCredential> {
        let mut command = Command::new(name);
        command.args(exec.args.iter().flatten());
        let variables = exec.env.iter().flatten();
        command.envs(variables.filter_map(|pair| Some((pair.get("name")?, pair.get("value")?))));
        command.env("KUBERNETES_EXEC_INFO", info(exec, attended)?);
        command.stdout(Stdio::piped()).kill_on_drop(true);
        if attended {
            command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        }
        let child = command.spawn().map_err(|error| NoCredential::NotStarted {
            command: name.to_owned(),
            problem: io_reason(&error),
        })?;
        let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        Ok(Self { child, group: id.filter(|_| !attended) })
    }

    /// Waits for the end, and for all that it prints.
    async fn end(&mut self, name: &str) -> Result<Ended, NoCredential> {
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let lost = |error: std::io::Error| NoCredential::Useless {
            command: name.to_owned(),
            problem: format!("its output cannot be read: {}", io_reason(&error)),
        };
        let all = async { tokio::try_join!(whole(stdout), last(stderr)) };
        let (printed, said) = all.await.map_err(lost)?;
        if printed.len() > bounds::PLUGIN_OUTPUT {
            let problem = format!("it printed more than {} MiB", bounds::PLUGIN_OUTPUT >> 20);
            return Err(NoCredential::Useless { command: name.to_owned(), problem });
        }
        let status = self.child.wait().await.map_err(lost)?;
        self.group = None;
        Ok(Ended { status, printed, said })
    }
}

/// What the plugin itself has started must not outlive it.
impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may have ended a moment ago; nobody can have its number before
            // it was waited for.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// Reads all, or one byte more than is allowed.
async fn whole(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let most = u64::try_from(bounds::PLUGIN_OUTPUT).unwrap_or(u64::MAX);
        stream.take(most + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// Reads to the end, and keeps the last part.
async fn last(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let Some(mut stream) = stream else { return Ok(kept) };
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece).await? {
            0 => return Ok(kept),
            length => kept.extend_from_slice(&piece[..length]),
        }
        let surplus = kept.len().saturating_sub(SAID);
        kept.drain(..surplus);
    }
}

/// The parser's words would quote what it has read.
fn read(command: &str, printed: &[u8]) -> Result<Printed, NoCredential> {
    let useless = |problem: &str| NoCredential::Useless {
        command: command.to_owned(),
        problem: problem.into(),
    };
    let text = std::str::from_utf8(printed).map_err(|_| useless("it is not valid UTF-8"))?;
    let options = serde_saphyr::options! { with_snippet: false };
    let credential: ExecCredential =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            match error.location() {
                Some(at) => useless(&format!(
                    "it cannot be read at line {}, column {}",
                    at.line(),
                    at.column()
                )),
                None => useless("it cannot be read"),
            }
        })?;
    credential.status.ok_or_else(|| useless("it has no status"))
}

/// What a plugin is told about who asks.
fn info(exec: &ExecConfig, attended: bool) -> Result<String, NoCredential> {
    let cluster: Option<&ExecAuthCluster> =
        exec.cluster.as_ref().filter(|_| exec.provide_cluster_info);
    let mut spec = json!({ "interactive": attended });
    if let Some(cluster) = cluster {
        spec["cluster"] = serde_json::to_value(cluster)
            .map_err(|error| NoCredential::Other(error.to_string()))?;
    }
    let info = json!({ "apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec });
    Ok(info.to_string())
}
