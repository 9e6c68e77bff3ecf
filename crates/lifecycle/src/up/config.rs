//! `config`: every node has its machine config, and control planes prove it.

use engine::{ActError, Hands, Sight};
use events::{Cause, Class, Evidence, Failure, Made, Role, Verdict};
use spec::plan::NodePlan;
use talos::client::{Apply, ClientError, Reason};
use talos::pki::SpkiHash;

use super::given;
use super::nodes::machine_of;
use crate::berth::Berth;
use crate::hetzner::explain;
use crate::machine_config::ConfigError;
use crate::node_trouble::Asked;
use crate::{Ground, Site, codes, machine, machine_config, node_trouble};

/// Whether the machine may have its config from an earlier call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Past {
    NeverSent,
    MaybeSent,
}

/// Sends the config to the machine whose identity was proven.
pub(super) async fn act(site: &Site, hands: &Hands, node: &NodePlan) -> Result<(), ActError> {
    let machine = machine_of(site, node).await?;
    let config = machine_config::render(site, node).map_err(|error| unrendered(node, &error))?;
    let at = site.talos(node).ok_or_else(|| Failure::transient("its address is not known yet"))?;
    let target = machine::target(&node.name, &machine);
    let call = Apply { target: &target, config: &config }.call();
    let sent_before = Berth::of(node).was_taken(&machine, hands.eyes());
    let past = if hands.may_have_arrived(&call) { Past::MaybeSent } else { Past::NeverSent };
    let (pin, asked) = (site.fingerprint(&node.name), Asked::new(site, &node.name));
    let look = async |_| match at.prove_admin(site.talos_admin()).await {
        Ok(_) => Ok(Sight::There(Made::default())),
        Err(error) => match error.reason {
            Reason::StillInMaintenance { spki } if pin == Some(spki) => Ok(Sight::NotThere),
            Reason::StillInMaintenance { .. } if pin.is_none() => Err(unidentified(node).into()),
            Reason::StillInMaintenance { spki } => {
                let error = another(&error, pin, spki);
                Err(asked.unseen(error.class(), &error))
            }
            Reason::Refused if sent_before => Ok(Sight::There(Made::default())),
            // Our certificate is always presented: that it did not arrive, no try mends.
            Reason::CertificateRequired => Err(node_trouble::cause(site, node, &error).into()),
            _ => Err(asked.unseen(past.class(&error), &error)),
        },
    };
    let sending = {
        let (config, target, asked) = (config.clone(), target.clone(), asked.clone());
        move |permit| async move {
            let unsent = |error| asked.unsent(past.class(&error), &error);
            let client = at.maintenance(pin).await.map_err(unsent)?;
            let apply = Apply { target: &target, config: &config };
            client.apply_configuration(permit, &apply).await.map_err(unsent)?;
            Ok(Made::default())
        }
    };
    let ensured = hands.ensure(call, look, sending).await?;
    let spki = pin.map_or_else(|| "not seen by this run".to_owned(), |spki| spki.to_string());
    if !sent_before {
        hands.pin(&machine::pin(&machine), &spki).await?;
    }
    if matches!(site.ground, Ground::Machines(_)) {
        Berth::of(node).keep(hands).await?;
    }
    if given::is_last(hands, &machine, &config, &ensured).await? {
        return Ok(());
    }
    hands.warn(keeps_another(&node.name))
}

/// Nodes that have a config keep it, whatever the file means by now.
fn keeps_another(name: &str) -> String {
    format!(
        "{name}: the cluster file means another machine config than {name} was given; it keeps \
         that. `seaworthy talos gen` writes the new one, for `talosctl apply-config`"
    )
}

/// It did not answer when it was asked who it is, and waits for its config now:
/// it may be another machine by then.
fn unidentified(node: &NodePlan) -> Cause {
    let message = format!("{} waits for its config, and did not say who it is before", node.name);
    Cause::new(codes::WRONG_MACHINE, message)
        .so("nothing was sent to it; the same command asks it first")
        .next(explain(codes::WRONG_MACHINE), "tells more")
}

/// Where the API will be is known once the first control plane is there.
fn unrendered(node: &NodePlan, error: &ConfigError) -> Failure {
    let what = format!("{}: {error}", node.name);
    match error {
        ConfigError::NoEndpoint => Failure::transient(what),
        ConfigError::Version(_) | ConfigError::Input(_) | ConfigError::Patch(_) => {
            Failure::permanent(what)
        }
    }
}

/// Another machine waits at the address than the one whose identity was proven.
fn another(error: &ClientError, expected: Option<SpkiHash>, seen: SpkiHash) -> ClientError {
    let expected = Box::new(expected.unwrap_or(seen));
    let reason = Reason::OtherFingerprint { expected, seen: Box::new(seen) };
    ClientError { reason, ..error.clone() }
}

impl Past {
    /// A node that takes its config answers for a moment as if something was
    /// wrong: with the new certificate instead of the known one, with a no from
    /// the old server, or with the new server, which wants a certificate. Where
    /// an earlier call may have brought it there, the next look tells.
    fn class(self, error: &ClientError) -> Class {
        match (&error.reason, self) {
            // Whoever asks for a certificate has a config; whose, the next look tells.
            (Reason::CertificateRequired, _)
            | (Reason::OtherFingerprint { .. } | Reason::PermissionDenied(_), Self::MaybeSent) => {
                Class::Transient
            }
            _ => error.class(),
        }
    }
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

#[cfg(test)]
mod tests {
    use events::Arrival;

    use super::*;

    fn error(reason: Reason) -> ClientError {
        let node = "10.0.0.1:50000".parse().expect("it is an address");
        ClientError { attempt: "apply the configuration", node, arrival: Arrival::No, reason }
    }

    #[test]
    fn what_a_node_says_while_it_takes_its_config_is_looked_at_again() {
        let spki = |text: &str| Box::new(SpkiHash::of(text.as_bytes()));
        let other = || Reason::OtherFingerprint { expected: spki("old"), seen: spki("new") };
        let denied = || Reason::PermissionDenied("not authorized".to_owned());
        for (reason, never, maybe) in [
            (other(), Class::Permanent, Class::Transient),
            (denied(), Class::Permanent, Class::Transient),
            (Reason::CertificateRequired, Class::Transient, Class::Transient),
            (Reason::UnknownCa, Class::Permanent, Class::Permanent),
            (Reason::Refused, Class::Transient, Class::Transient),
        ] {
            let error = error(reason);
            assert_eq!(Past::NeverSent.class(&error), never, "{}", error.reason);
            assert_eq!(Past::MaybeSent.class(&error), maybe, "{}", error.reason);
        }
    }
}
