//! What git says of a repository that others serve: for no longer, and no more
//! of it, than its bounds.
//!
//! git reads `HTTPS_PROXY` and `NO_PROXY` by itself.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use events::{io_reason, text};
use peers::{bounds, without_user_info};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::runtime;

/// Asks git for the newest commit of a branch, as whoever runs this: it has the keys.
pub(crate) fn newest_commit(repository: &str, branch: &str) -> Result<String, CommandError> {
    let reference = format!("refs/heads/{branch}");
    let mut command = Command::new("git");
    command.args(["ls-remote", repository, &reference]);
    let shown = without_user_info(repository);
    runtime::block_on(async {
        let asked = ask(command, bounds::GIT_TIME).await;
        asked.and_then(|said| commit(&said, &reference)).map_err(|why| {
            let why = why.replace(repository, &shown);
            let message = format!("could not read {branch} of {shown}: {why}");
            CommandError::say(Exit::Usage, message)
                .hint("Flux is proven to have applied the newest commit, which git has to tell")
        })
    })
}

/// Finds the commit of a reference among the lines of `git ls-remote`.
fn commit(said: &str, reference: &str) -> Result<String, String> {
    let mut lines = said.lines().filter_map(|line| line.split_once('\t'));
    let Some((commit, _)) = lines.find(|(_, name)| *name == reference) else {
        return Err("there is no such branch".to_owned());
    };
    let is_commit =
        matches!(commit.len(), 40 | 64) && commit.chars().all(|c| c.is_ascii_hexdigit());
    if is_commit { Ok(commit.to_owned()) } else { Err("git names no commit".to_owned()) }
}

/// A command in a process group of its own: whoever it has started ends with it.
struct Running {
    child: Child,
    group: Option<Pid>,
}

async fn ask(mut command: Command, within: Duration) -> Result<String, String> {
    // Nobody is there to be asked for a password.
    command.env("GIT_TERMINAL_PROMPT", "0").process_group(0).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("git: {}", io_reason(&error)))?;
    let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
    // git fills its memory with what a server sends, and says nothing until its end.
    let memory = Some(bounds::GIT_MEMORY);
    let _ = prlimit(group, Resource::As, Rlimit { current: memory, maximum: memory });
    let mut running = Running { child, group };
    let late = |_| format!("git did not end within {} s", within.as_secs_f32());
    let (status, said, complaint) =
        tokio::time::timeout(within, running.end()).await.map_err(late)??;
    if status.success() { Ok(said) } else { Err(text::line(complaint.trim())) }
}

impl Running {
    async fn end(&mut self) -> Result<(ExitStatus, String, String), String> {
        let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
        let (said, complaint) = tokio::try_join!(bounded(out), bounded(err))?;
        let status = self.child.wait().await.map_err(|error| io_reason(&error))?;
        self.group = None;
        Ok((status, said, complaint))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It was not waited for, so that nobody else can have its number.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn bounded(stream: Option<impl AsyncRead + Unpin>) -> Result<String, String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        let most = u64::try_from(bounds::GIT_OUTPUT).unwrap_or(u64::MAX);
        let read = stream.take(most + 1).read_to_end(&mut bytes).await;
        read.map_err(|error| io_reason(&error))?;
    }
    if bytes.len() > bounds::GIT_OUTPUT {
        return Err(format!("git printed more than {} MiB", bounds::GIT_OUTPUT >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    async fn asked(script: &str) -> Result<String, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ask(command, Duration::from_secs(20)).await
    }

    #[tokio::test]
    async fn git_is_given_up_where_it_does_not_end_or_prints_without_end() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60; true"]);
        let told = ask(command, Duration::from_millis(200)).await.unwrap_err();
        assert_eq!(told, "git did not end within 0.2 s");
        let told = asked("head -c 3000000 /dev/zero").await.unwrap_err();
        assert_eq!(told, "git printed more than 1 MiB");
        let told = asked("head -c 3000000 /dev/zero >&2; exit 1").await.unwrap_err();
        assert_eq!(told, "git printed more than 1 MiB");
    }

    #[tokio::test]
    async fn git_complains_on_one_line_without_orders_to_the_terminal() {
        let told = asked("printf 'no\\nProven\\033[2J\\n' >&2; exit 128").await.unwrap_err();
        assert_eq!(told, "no Proven␛[2J");
    }

    /// Serves references over HTTP, and returns the URL of the repository. What comes
    /// last is sent again and again, as long as anybody reads, with a pause.
    fn server(first: &'static [&'static str], last: &'static str, pause: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/fleet.git", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for mut caller in listener.incoming().map_while(Result::ok) {
                let mut head = [0; 4096];
                let _ = caller.read(&mut head);
                let kind = "application/x-git-upload-pack-advertisement";
                let mut said = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n");
                said += &(packet("# service=git-upload-pack\n") + "0000");
                said.extend(first.iter().map(|line| packet(line)));
                let _ = caller.write_all(said.as_bytes());
                while !last.is_empty() && caller.write_all(packet(last).as_bytes()).is_ok() {
                    wait(pause);
                }
            }
        });
        url
    }

    #[expect(clippy::disallowed_methods, reason = "this server is slow on purpose")]
    fn wait(pause: Duration) {
        std::thread::sleep(pause);
    }

    fn packet(line: &str) -> String {
        format!("{:04x}{line}", line.len() + 4)
    }

    async fn listed(url: &str, within: Duration) -> Result<String, String> {
        let mut command = Command::new("git");
        command.args(["ls-remote", url, "refs/heads/main"]);
        ask(command, within).await
    }

    const OTHER: &str = "0123456789abcdef0123456789abcdef01234567 refs/heads/other\n";

    #[tokio::test]
    async fn a_git_server_that_never_ends_is_given_up() {
        for pause in [Duration::ZERO, Duration::from_millis(50)] {
            let url = server(&[], OTHER, pause);
            let told = listed(&url, Duration::from_secs(2)).await.unwrap_err();
            assert_eq!(told, "git did not end within 2 s");
        }
    }

    #[tokio::test]
    async fn a_git_server_that_lies_is_told_on_one_line() {
        let within = Duration::from_secs(20);
        let url = server(&["ERR no\nProven\u{1b}[2J"], "", Duration::ZERO);
        let told = listed(&url, within).await.unwrap_err();
        assert!(told.contains("no") && !told.contains(text::is_steering), "{told:?}");
        let url = server(&["main refs/heads/main\n", "0000"], "", Duration::ZERO);
        let told = listed(&url, within).await.unwrap_err();
        assert!(!told.is_empty() && !told.contains(text::is_steering), "{told:?}");
    }

    #[test]
    fn only_a_commit_of_the_branch_is_one() {
        let (sha, main) = ("0123456789abcdef0123456789abcdef01234567", "refs/heads/main");
        assert_eq!(commit(&format!("{sha}\t{main}\n"), main), Ok(sha.to_owned()));
        for said in ["", "x\trefs/heads/main\n", &format!("{sha}\trefs/heads/other\n")] {
            assert!(commit(said, main).is_err(), "{said}");
        }
    }
}
