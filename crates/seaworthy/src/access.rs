//! How commands reach a cluster: one way for all of them, which is kubectl's.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use events::io_reason;
use lifecycle::Invocation;
use objects::{Access, AccessError, Cluster, SyntaxProblem};
use report::terminal::say;
use tokio::time::Instant;

use crate::command_error::CommandError;
use crate::commands::palette;
use crate::exit::Exit;
use crate::proxies::proxies;
use crate::reading::stopped;
use crate::running::Signals;
use crate::ui::Ui;

/// Which cluster is meant, and as whom.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct ClusterArgs {
    /// The kubeconfig of the cluster [default: the files of the variable KUBECONFIG, or
    /// ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
}

/// Which cluster is meant, and where in it.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct AccessArgs {
    #[command(flatten)]
    cluster: ClusterArgs,

    /// Where objects are that say no namespace [default: the context's]
    #[arg(short, long, value_name = "NAME", value_parser = namespace_name)]
    namespace: Option<String>,
}

impl AccessArgs {
    /// Makes a client; nothing is asked yet. A command for a token may take long,
    /// and a signal does not wait for it.
    pub(crate) async fn connect(
        &self,
        within: Duration,
        signals: &mut Signals,
        ui: &Ui,
    ) -> Result<Cluster, CommandError> {
        let access = self.cluster.access(ui)?.patience(within);
        warn_of_clear_text(&access, ui).await?;
        tokio::select! {
            connected = access.connect() => connected.map_err(|error| unusable(&error)),
            signal = signals.next() => Err(stopped(signal)),
        }
    }

    /// Returns the namespace that was named.
    pub(crate) fn named_namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the namespace of objects that say none.
    pub(crate) fn namespace(&self, cluster: &Cluster) -> String {
        self.namespace.clone().unwrap_or_else(|| cluster.default_namespace().to_owned())
    }
}

impl ClusterArgs {
    /// Returns how the command was called, as far as the cluster goes.
    pub(crate) fn invocation(&self) -> Invocation {
        let (kubeconfig, context) = (self.kubeconfig.clone(), self.context.clone());
        Invocation { kubeconfig, context, ..Invocation::default() }
    }

    /// Reads how the cluster is reached.
    pub(crate) fn access(&self, ui: &Ui) -> Result<Access, CommandError> {
        let (access, files) = if let Some(file) = &self.kubeconfig {
            (self.read(file)?, vec![file.clone()])
        } else {
            let files = usual_files()?;
            (self.merged(&files)?, files)
        };
        check_context(&access, &named(&files))?;
        let access = access.proxies(Arc::new(proxies()?));
        let hidden = ui.hidden().clone();
        let access = access.telling_secrets(move |secrets| hidden.add(secrets));
        Ok(if io::stdin().is_terminal() { access } else { access.unattended() })
    }

    /// Reads a list of files as kubectl does: what the first says counts, and
    /// files that are not there are passed over.
    fn merged(&self, files: &[PathBuf]) -> Result<Access, CommandError> {
        let mut merged: Option<Access> = None;
        for file in files {
            match self.read(file) {
                Ok(access) => {
                    let all = merged.map_or(Ok(access.clone()), |first| first.or(access));
                    merged = Some(all.map_err(|error| unusable(&error))?);
                }
                // A folder that may not be entered is no file that is not there.
                Err(_) if matches!(file.try_exists(), Ok(false)) => {}
                Err(error) => return Err(error),
            }
        }
        merged.ok_or_else(|| {
            let message = format!("there is no kubeconfig at {}", named(files));
            CommandError::say(Exit::Usage, message).hint(ANOTHER)
        })
    }

    fn read(&self, file: &Path) -> Result<Access, CommandError> {
        let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
        let access = Access::from_kubeconfig(&bytes, self.context.as_deref());
        let access = access.map_err(|error| {
            let said = CommandError::new(Exit::Usage, &error)
                .hint(format!("the kubeconfig is {}", file.display()));
            match error {
                AccessError::Syntax(SyntaxProblem { excerpt: Some(excerpt), .. }) => {
                    excerpt.lines().fold(said, CommandError::hint)
                }
                _ => said,
            }
        })?;
        Ok(access.beside(file.parent().unwrap_or(Path::new(""))))
    }
}

/// How long after a command's time is over it may still read: why it was in vain
/// is asked then.
const CLOSING: Duration = Duration::from_secs(2);

/// Gives every request up once a command's time is over, however slowly its answer
/// comes.
pub(crate) fn within(cluster: Cluster, time: Duration) -> Cluster {
    cluster.until(Instant::now() + time + CLOSING)
}

/// Says that a credential can be read on its way. kubectl sends it, too.
pub(crate) async fn warn_of_clear_text(access: &Access, ui: &Ui) -> Result<(), CommandError> {
    if access.sends_in_the_clear().await.map_err(|error| unusable(&error))? {
        let words = "the credential travels without encryption: `server` in the kubeconfig is http";
        say(palette(ui), "Warning", words, &mut ui.stderr())?;
    }
    Ok(())
}

/// What is no name of a namespace would lead elsewhere in the API, or nowhere.
fn namespace_name(text: &str) -> Result<String, String> {
    let plain = |symbol: char| symbol.is_ascii_lowercase() || symbol.is_ascii_digit();
    let ends = [text.chars().next(), text.chars().last()];
    let is_name = text.len() <= 63
        && text.chars().all(|symbol| plain(symbol) || symbol == '-')
        && ends.iter().all(|end| end.is_some_and(plain));
    if is_name {
        return Ok(text.to_owned());
    }
    Err("a namespace has up to 63 small letters, digits and `-`, and begins and ends with one of \
         the former"
        .to_owned())
}

const ANOTHER: &str = "name one with `--kubeconfig` or the variable `KUBECONFIG`";

/// Where a kubeconfig is where nobody names one.
fn usual_files() -> Result<Vec<PathBuf>, CommandError> {
    let named = from_environment().unwrap_or_default();
    let named = std::env::split_paths(&named).filter(|file| !file.as_os_str().is_empty());
    let named: Vec<PathBuf> = named.collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let home = std::env::home_dir().map(|home| vec![home.join(".kube").join("config")]);
    home.ok_or_else(|| CommandError::say(Exit::Usage, "there is no kubeconfig").hint(ANOTHER))
}

#[expect(clippy::disallowed_methods, reason = "a list of files cannot be the value of a flag")]
fn from_environment() -> Option<OsString> {
    std::env::var_os("KUBECONFIG")
}

/// Words for the files that are read together.
fn named(files: &[PathBuf]) -> String {
    let all: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    all.join(" or ")
}

/// Finds a wrong context before the client library does, which knows no other names.
fn check_context(access: &Access, files: &str) -> Result<(), CommandError> {
    let there = access.contexts().collect::<Vec<_>>().join(", ");
    let Some(wanted) = access.context() else {
        let hint = match there.as_str() {
            "" => "it has no context at all".to_owned(),
            there => format!("name one with `--context`: {there}"),
        };
        let message = format!("the kubeconfig {files} says no current context");
        return Err(CommandError::say(Exit::Usage, message).hint(hint));
    };
    if access.contexts().any(|it| it == wanted) {
        return Ok(());
    }
    let hint = match spec::nearest(wanted, access.contexts()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if there.is_empty() => "it has no context at all".to_owned(),
        None => format!("there are: {there}"),
    };
    let message = format!("the kubeconfig {files} has no context `{wanted}`");
    Err(CommandError::say(Exit::Usage, message).hint(hint))
}

fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    let message = format!("could not read the kubeconfig {}: {}", path.display(), io_reason(error));
    let said = CommandError::say(Exit::Usage, message);
    if error.kind() == ErrorKind::NotFound { said.hint(ANOTHER) } else { said }
}

/// Says why a kubeconfig cannot be used.
pub(crate) fn unusable(error: &AccessError) -> CommandError {
    CommandError::new(Exit::Usage, error)
}
