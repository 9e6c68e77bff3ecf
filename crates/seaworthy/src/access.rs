//! How commands on Kubernetes objects reach a cluster.

use std::path::{Path, PathBuf};

use clap::Args;
use objects::{Access, AccessError, Cluster};

use crate::command_error::CommandError;
use crate::exit::Exit;

/// Which cluster is meant, and as whom.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct AccessArgs {
    /// The kubeconfig of the cluster [default: ~/.kube/config]
    #[arg(long, value_name = "FILE", env = "KUBECONFIG")]
    kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Where objects are that say no namespace [default: the context's]
    #[arg(short, long, value_name = "NAME")]
    namespace: Option<String>,
}

impl AccessArgs {
    /// Makes a client; nothing is asked yet.
    pub(crate) async fn connect(&self) -> Result<Cluster, CommandError> {
        let path = self.kubeconfig.clone().map_or_else(in_home, Ok)?;
        let bytes = std::fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        let access = Access::from_kubeconfig(&bytes, self.context.as_deref());
        let access = access.map_err(|error| unusable(&error))?;
        access.connect().await.map_err(|error| unusable(&error))
    }

    /// Returns the namespace of objects that say none.
    pub(crate) fn namespace(&self, cluster: &Cluster) -> String {
        self.namespace.clone().unwrap_or_else(|| cluster.default_namespace().to_owned())
    }
}

fn in_home() -> Result<PathBuf, CommandError> {
    let home = std::env::home_dir().map(|home| home.join(".kube").join("config"));
    home.ok_or_else(|| {
        CommandError::say(Exit::Usage, "there is no kubeconfig")
            .hint("name one with `--kubeconfig` or the variable `KUBECONFIG`")
    })
}

fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    let message = format!("could not read the kubeconfig {}: {error}", path.display());
    CommandError::say(Exit::Usage, message)
        .hint("name another with `--kubeconfig` or the variable `KUBECONFIG`")
}

fn unusable(error: &AccessError) -> CommandError {
    CommandError::new(Exit::Usage, error)
}
