//! `kubeconfig`.

use clap::Args;
use lifecycle::Way;
use talos::credentials::{Identity, Kubeconfig};

use super::{MakingArgs, failed, nowhere, open, own_bundle, rng};
use crate::cli::Shared;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::place::Place;
use crate::runtime;
use crate::secrets_args::Given;
use crate::target::TargetArgs;
use crate::ui::Ui;

/// The port of the Kubernetes API.
const PORT: u16 = 6443;

/// Print an administrator's kubeconfig
///
/// Made from the cluster's secrets bundle, without asking any node. With
/// `--secrets` or `--from` it is made for a cluster that other tools have made,
/// and no cluster file is read. To have it proves nothing about the cluster:
/// `seaworthy verify` does.
#[derive(Args, Debug)]
pub(crate) struct KubeconfigArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Where to reach the API: `lb` for the load balancer, or the name of a control plane of ours;
    /// with `--secrets` or `--from` a name, an address or a URL [default: the endpoint in the
    /// machine configs]
    #[arg(long, value_name = "WHERE")]
    endpoint: Option<String>,

    #[command(flatten)]
    making: MakingArgs,
}

pub(crate) fn run(args: &KubeconfigArgs, shared: &Shared, ui: &Ui) -> Result<(), CommandError> {
    let (bundle, name, server) = match args.making.secrets.read(ui)? {
        Some(given) => {
            args.target.is_unused()?;
            let server = args.server_of(&given)?;
            (given.bundle.clone(), args.making.name_of(&given), server)
        }
        None => args.of_ours(shared, ui)?,
    };
    let lifetime = args.making.ttl.lifetime();
    let admin = Identity::kubernetes_admin_for(&bundle, lifetime, &mut rng())
        .map_err(|error| CommandError::new(Exit::Internal, &error))?;
    args.making.give(Kubeconfig::new(&name, &server, &admin).yaml(), ui)
}

impl KubeconfigArgs {
    /// Returns secrets, name and URL of a cluster of ours.
    fn of_ours(
        &self,
        shared: &Shared,
        ui: &Ui,
    ) -> Result<(talos::secrets::Bundle, String, String), CommandError> {
        let target = open(&self.target, shared, ui)?;
        let bundle = own_bundle(&target.site)?;
        let way = match self.endpoint.as_deref() {
            None => Way::Endpoint,
            Some("lb") => Way::LoadBalancer,
            Some(node) => Way::Node(node.to_owned()),
        };
        let runtime = runtime::new()?;
        let server = runtime.block_on(lifecycle::api_server(&target.site, &way));
        let server = server.map_err(|error| failed(&error))?;
        let own_name = || target.site.plan.cluster.to_string();
        Ok((bundle, self.making.name.clone().unwrap_or_else(own_name), server))
    }

    /// Returns the URL of a cluster that others have made.
    fn server_of(&self, given: &Given) -> Result<String, CommandError> {
        match (&self.endpoint, &given.whereabouts.endpoint) {
            (Some(said), _) => url(said),
            (None, Some(written)) => Ok(written.clone()),
            (None, None) => Err(nowhere(given, "the Kubernetes API is")),
        }
    }
}

/// Returns the URL that somebody means by a name or an address.
fn url(said: &str) -> Result<String, CommandError> {
    let is_host = |place: &str| !place.is_empty() && !place.contains(char::is_whitespace);
    if said.strip_prefix("https://").is_some_and(is_host) {
        return Ok(said.to_owned());
    }
    let place = Place::read(said, PORT).map_err(|why| {
        CommandError::say(Exit::Usage, format!("`{said}` is no place of an API: {why}"))
            .hint("give a name, an address or a URL: `--endpoint https://api.example.com:6443`")
    })?;
    Ok(format!("https://{}", place.authority()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_urls() {
        for (said, expected) in [
            ("10.0.0.5", "https://10.0.0.5:6443"),
            ("10.0.0.5:443", "https://10.0.0.5:443"),
            ("fd00::5", "https://[fd00::5]:6443"),
            ("[fd00::5]", "https://[fd00::5]:6443"),
            ("api.example.com", "https://api.example.com:6443"),
            ("api.example.com:443", "https://api.example.com:443"),
            ("https://api.example.com/k8s", "https://api.example.com/k8s"),
        ] {
            assert_eq!(url(said).unwrap(), expected);
        }
        for said in ["", "http://api", "http://api:1", "https://", "a b", "api:x", ":443"] {
            assert!(url(said).is_err(), "{said}");
        }
    }
}
