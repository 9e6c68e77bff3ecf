//! The gate of Flux: the cluster is what the branch says, now.

use events::{Failure, Verdict};
use serde_json::{Value, json};

use super::stand_in::{CONTROLLERS, ROOT};
use crate::codes;
use crate::gate::{
    Finding, Gate, Inquiry, Kind, Look, Need, Replicated, Seen, condition, has_condition,
    is_observed, items, kinds, name, text, verdict,
};

/// Proves that every object of Flux is Ready in its newest form, at the
/// revision that the branch has.
#[derive(Clone, Debug)]
pub struct FluxGate {
    /// Where Flux is.
    pub namespace: String,
    /// What the branch points at, such as `main@sha1:4be1…`.
    pub revision: String,
}

/// The objects that Flux works on.
struct Objects<'a> {
    repositories: &'a [Value],
    kustomizations: &'a [Value],
    releases: &'a [Value],
}

impl FluxGate {
    fn inquire(&self, seen: &Seen) -> Result<Verdict, Failure> {
        let mut inquiry = Inquiry::default();
        for (name, labels) in controllers() {
            Replicated { namespace: &self.namespace, name, labels: &labels }
                .judge(seen, &mut inquiry)?;
        }
        let objects = Objects {
            repositories: seen.list(&Look::all(kinds::GIT_REPOSITORY))?,
            kustomizations: seen.list(&Look::all(kinds::KUSTOMIZATION))?,
            releases: seen.list(&Look::all(kinds::HELM_RELEASE))?,
        };
        inquiry.found_all(self.roots(&objects));
        inquiry.found_all(self.all(&objects));
        objects.facts(&mut inquiry);
        let count = objects.kustomizations.len() + objects.releases.len();
        let objects = if count == 1 { "object" } else { "objects" };
        Ok(inquiry.conclude(format!("{} applied, {count} {objects} ready", short(&self.revision))))
    }

    /// Without these two there is nothing to follow, and nothing to prove.
    fn roots(&self, objects: &Objects<'_>) -> Vec<Finding> {
        let Self { namespace, .. } = self;
        [
            (kinds::GIT_REPOSITORY, objects.repositories),
            (kinds::KUSTOMIZATION, objects.kustomizations),
        ]
        .into_iter()
        .filter(|(_, all)| !all.iter().any(|one| self.is_root(one)))
        .map(|(kind, _)| {
            let message = format!("{} {namespace}/{ROOT} does not exist", kind.kind);
            Finding::new(codes::FLUX_OBJECT_MISSING, message)
        })
        .collect()
    }

    fn all(&self, objects: &Objects<'_>) -> Vec<Finding> {
        let repositories = objects.repositories.iter().filter_map(|one| {
            let revision = text(one, "/status/artifact/revision");
            let expected = self.is_root(one).then_some(self.revision.as_str());
            self.settled(kinds::GIT_REPOSITORY, one, objects)
                .or_else(|| behind(kinds::GIT_REPOSITORY, one, revision, expected.or(revision)))
        });
        let kustomizations = objects.kustomizations.iter().filter_map(|one| {
            let revision = text(one, "/status/lastAppliedRevision");
            let expected = self.expected(one, objects.repositories);
            self.settled(kinds::KUSTOMIZATION, one, objects)
                .or_else(|| behind(kinds::KUSTOMIZATION, one, revision, expected))
        });
        let releases = objects.releases.iter().filter_map(|one| {
            self.settled(kinds::HELM_RELEASE, one, objects).or_else(|| undeployed(one))
        });
        repositories.chain(kustomizations).chain(releases).collect()
    }

    /// What a Kustomization must have applied: what its source has, and for
    /// the root's source what the branch has.
    fn expected<'a>(&'a self, one: &'a Value, repositories: &'a [Value]) -> Option<&'a str> {
        if text(one, "/spec/sourceRef/kind") != Some("GitRepository") {
            return text(one, "/status/lastAttemptedRevision");
        }
        let own = text(one, "/metadata/namespace");
        let namespace = text(one, "/spec/sourceRef/namespace").or(own);
        let source = repositories.iter().find(|source| {
            Some(name(source)) == text(one, "/spec/sourceRef/name")
                && text(source, "/metadata/namespace") == namespace
        })?;
        let served = text(source, "/status/artifact/revision");
        if self.is_root(source) { Some(&self.revision) } else { served }
    }

    /// What speaks against an object, whatever its revision.
    fn settled(&self, kind: Kind, one: &Value, objects: &Objects<'_>) -> Option<Finding> {
        let title = title(kind, one);
        if one.pointer("/spec/suspend") == Some(&json!(true)) {
            let finding = Finding::new(codes::FLUX_SUSPENDED, format!("{title} is suspended"));
            return Some(described(finding, kind, one));
        }
        if !is_current(one) {
            let message = format!("{title}: Flux has not seen its newest form");
            return Some(Finding::new(codes::FLUX_BEHIND, message));
        }
        if has_condition(one, "Stalled", "True") {
            let finding = Finding::new(codes::FLUX_STALLED, format!("{title} is stalled"))
                .because(message(one, "Stalled"));
            // A newer revision may still mend what an older one has stalled.
            let is_final = self.is_root(one) || self.is_applied(objects);
            return Some(if is_final { finding.hopeless() } else { finding });
        }
        if has_condition(one, "Ready", "True") {
            return None;
        }
        let finding = Finding::new(codes::FLUX_NOT_READY, format!("{title} is not ready"));
        Some(described(finding.because(message(one, "Ready")), kind, one))
    }

    fn is_applied(&self, objects: &Objects<'_>) -> bool {
        let root = objects.kustomizations.iter().find(|one| self.is_root(one));
        root.and_then(|one| text(one, "/status/lastAppliedRevision")) == Some(&self.revision)
    }

    fn is_root(&self, one: &Value) -> bool {
        name(one) == ROOT && text(one, "/metadata/namespace") == Some(&self.namespace)
    }
}

impl Gate for FluxGate {
    fn needs(&self) -> Vec<Need> {
        let objects = [kinds::GIT_REPOSITORY, kinds::KUSTOMIZATION, kinds::HELM_RELEASE];
        let mut needs: Vec<_> = objects.map(|kind| Look::all(kind).decides()).into();
        for (name, labels) in controllers() {
            let controller = Replicated { namespace: &self.namespace, name, labels: &labels };
            needs.extend(controller.needs());
        }
        needs
    }

    fn judge(&self, seen: &Seen) -> Verdict {
        verdict(self.inquire(seen))
    }
}

impl Objects<'_> {
    fn facts(&self, inquiry: &mut Inquiry) {
        for (kind, field, all) in [
            (kinds::GIT_REPOSITORY, "/status/artifact/revision", self.repositories),
            (kinds::KUSTOMIZATION, "/status/lastAppliedRevision", self.kustomizations),
            (kinds::HELM_RELEASE, "/status/history/0/chartVersion", self.releases),
        ] {
            for one in all {
                inquiry.fact(title(kind, one), json!(text(one, field)));
            }
        }
    }
}

/// The controllers with the labels of their pods.
fn controllers() -> impl Iterator<Item = (&'static str, String)> {
    CONTROLLERS.into_iter().map(|name| (name, format!("app={name}")))
}

/// Flux may say Ready of an older form of an object; then its word is old too.
fn is_current(one: &Value) -> bool {
    let generation = one.pointer("/metadata/generation");
    let said_of = condition(one, "Ready").and_then(|ready| ready.get("observedGeneration"));
    is_observed(one) && said_of.is_none_or(|said| Some(said) == generation)
}

/// Ready for another revision than the expected one is not ready.
fn behind(kind: Kind, one: &Value, found: Option<&str>, expected: Option<&str>) -> Option<Finding> {
    if found.is_some() && found == expected {
        return None;
    }
    let (found, expected) = (found.unwrap_or("nothing"), expected.unwrap_or("an unknown revision"));
    let message =
        format!("{} is at {}, not at {}", title(kind, one), short(found), short(expected));
    Some(described(Finding::new(codes::FLUX_BEHIND, message), kind, one))
}

/// Shortens a commit to what people compare: `main@sha1:4be1f0c2a9d3`.
fn short(revision: &str) -> &str {
    let end = revision.rfind(':').map_or(revision.len(), |at| (at + 13).min(revision.len()));
    revision.get(..end).unwrap_or(revision)
}

fn described(finding: Finding, kind: Kind, one: &Value) -> Finding {
    let namespace = text(one, "/metadata/namespace").unwrap_or_default();
    let command = format!("kubectl -n {namespace} describe {} {}", kind.plural, name(one));
    finding.next(command, "shows what Flux says about it")
}

/// A release is proven by what is deployed, newest first.
fn undeployed(one: &Value) -> Option<Finding> {
    let newest = items(one, "/status/history").first();
    let status = newest.and_then(|newest| text(newest, "/status"));
    let message = format!(
        "{} is ready, and its newest release is {}",
        title(kinds::HELM_RELEASE, one),
        status.unwrap_or("unknown")
    );
    (status != Some("deployed")).then(|| Finding::new(codes::FLUX_BEHIND, message))
}

fn title(kind: Kind, one: &Value) -> String {
    format!("{} {}/{}", kind.kind, text(one, "/metadata/namespace").unwrap_or_default(), name(one))
}

fn message(one: &Value, of_type: &str) -> Option<String> {
    let condition = condition(one, of_type)?;
    let reason = text(condition, "/reason").unwrap_or(of_type);
    Some(format!("{reason}: {}", text(condition, "/message").unwrap_or_default()))
}
