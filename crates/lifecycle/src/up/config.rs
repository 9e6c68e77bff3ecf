//! `config`: every node has its machine config, and control planes prove it.

use engine::{ActError, Hands, SendError, Sight};
use events::{Cause, Digest, Evidence, Failure, Made, Role, Verdict};
use spec::plan::NodePlan;
use talos::client::{Apply, ClientError, Reason};
use talos::config::MachineConfig;

use super::nodes::machine_of;
use crate::berth::Berth;
use crate::hetzner::explain;
use crate::machine::Machine;
use crate::{Ground, Site, codes, machine_config, node_trouble};

/// Sends the config to the machine whose identity was proven.
pub(super) async fn act(site: &Site, hands: &Hands, node: &NodePlan) -> Result<(), ActError> {
    let machine = machine_of(site, node).await?;
    let config = machine_config::render(site, node)
        .map_err(|error| Failure::permanent(format!("{}: {error}", node.name)))?;
    let at = site.talos(node).ok_or_else(|| Failure::transient("its address is not known yet"))?;
    let target = format!("{} ({})", node.name, machine.title);
    let call = Apply { target: &target, config: &config }.call();
    let sent_before = hands.eyes().pinned(&machine.pin()).is_some();
    let look = async |_| match at.prove_admin(site.talos_admin()).await {
        Ok(_) => Ok(Sight::There(Made::default())),
        Err(ClientError { reason: Reason::StillInMaintenance { .. }, .. }) => Ok(Sight::NotThere),
        Err(error) if error.reason == Reason::Refused && sent_before => {
            Ok(Sight::There(Made::default()))
        }
        Err(error) => match node_trouble::cause(site, node, &error) {
            Some(cause) if !error.class().is_retryable() => Err(cause.into()),
            _ => Err(error.failure().into()),
        },
    };
    let pin = site.fingerprint(&node.name);
    let name = node.name.clone();
    let sending = {
        let (config, target) = (config.clone(), target.clone());
        move |permit| async move {
            let client = at.maintenance(pin).await.map_err(|error| send_error(&error))?;
            let apply = Apply { target: &target, config: &config };
            let applied = client.apply_configuration(permit, &apply).await;
            applied.map_err(|error| send_error(&error).named(refusal(&name, &error)))?;
            Ok(Made::default())
        }
    };
    hands.ensure(call, look, sending).await?;
    let spki = pin.map_or_else(|| "not seen by this run".to_owned(), |spki| spki.to_string());
    if !sent_before {
        hands.pin(&machine.pin(), &spki).await?;
    }
    if matches!(site.ground, Ground::Machines) {
        Berth::of(node).keep(hands).await?;
    }
    same_as_before(hands, &machine, node, &config).await
}

/// Says that the file means another config than the node was given: nodes that
/// have one keep it.
async fn same_as_before(
    hands: &Hands,
    machine: &Machine,
    node: &NodePlan,
    config: &MachineConfig,
) -> Result<(), ActError> {
    let digest = Digest::of(config.yaml().reveal().as_bytes()).to_string();
    let given = hands.pin(&format!("config of {}", machine.title), &digest).await?;
    if given != digest {
        let name = &node.name;
        hands.warn(format!(
            "{name}: the cluster file means another machine config than {name} was given; it keeps \
             that. `seaworthy talos gen` writes the new one, for `talosctl apply-config`"
        ))?;
    }
    Ok(())
}

/// Names the cause where a node does not want its configuration: what is wrong
/// with it is wrong with it the next time too.
fn refusal(node: &str, error: &ClientError) -> Option<Cause> {
    let Reason::InvalidConfig(why) = &error.reason else { return None };
    let cause = Cause::new(codes::CONFIG_REFUSED, format!("{node} refuses its configuration"));
    Some(cause.because([why.clone()]).next(explain(codes::CONFIG_REFUSED), "tells more"))
}

fn send_error(error: &ClientError) -> SendError {
    SendError::new(error.failure(), error.arrival)
}

/// Looks whether the node lets us administer it, on a new connection.
pub(super) async fn look(site: &Site, node: &NodePlan) -> Verdict {
    let Some(at) = site.talos(node) else {
        return Verdict::not_yet("its address is not known yet");
    };
    match at.prove_admin(site.talos_admin()).await {
        Ok(proof) => Verdict::ready(
            Evidence::new("takes our certificate")
                .fact("config version", proof.config_version)
                .fact("certificate.spki", proof.certificate.spki().to_string())
                .fact("certificate.subject", proof.certificate.facts().subject.clone()),
        ),
        Err(error) if node.role == Role::Worker && error.reason == Reason::Refused => {
            Verdict::ready(Evidence::new("has its config; workers answer once the API is up"))
        }
        Err(error) => node_trouble::verdict(site, node, &error),
    }
}
