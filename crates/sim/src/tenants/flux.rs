//! Flux: sources are fetched, and what they hold is applied.
//!
//! The commits of branches, and the manifests in a repository, come from the
//! [knobs](super::Knobs).

use std::time::Duration;

use serde_json::{Value, json};

use super::digest::sha256;
use super::network::resolve;
use super::object::{Said, find, replace, report};
use super::presence::{Labels, PODS, leader};
use super::{Knobs, network::NameError};
use crate::kube::object::{has_condition, is_terminating, name, namespace};
use crate::kube::{Key, Kube, Patch, Write};

/// How long a controller takes to fetch a source, or to apply it.
pub(super) const REACTION: Duration = Duration::from_secs(3);

const SOURCE: Labels = &[("app", "source-controller")];
const KUSTOMIZE: Labels = &[("app", "kustomize-controller")];
const REPOSITORIES: Key = Key::new("source.toolkit.fluxcd.io", "gitrepositories");
const KUSTOMIZATIONS: Key = Key::new("kustomize.toolkit.fluxcd.io", "kustomizations");
const SECRETS: Key = Key::core("secrets");
const DEFINITIONS: Key = Key::new("apiextensions.k8s.io", "customresourcedefinitions");

/// The kinds that it follows.
pub(super) const FOLLOWED: &[Key] = &[PODS, REPOSITORIES, KUSTOMIZATIONS, SECRETS, DEFINITIONS];

/// What a controller could not do: a reason and a sentence.
type Trouble = (&'static str, String);

/// Fetches the sources.
pub(super) fn fetch(kube: &Kube, knobs: &Knobs) {
    let Some(controller) = leader(kube, SOURCE) else { return };
    for repository in kube.all(&REPOSITORIES, "") {
        if is_terminating(&repository) || repository["spec"]["suspend"] == true {
            continue;
        }
        let found = revision(kube, knobs, &controller, &repository);
        let mut told = (*repository).clone();
        told["status"]["observedGeneration"] = repository["metadata"]["generation"].clone();
        match found {
            Ok(revision) => stored(kube, &mut told, &revision, namespace(&controller)),
            Err(trouble) => failed(kube, &mut told, &["FetchFailed"], &trouble),
        }
        report(kube, &REPOSITORIES, &repository, told, "source-controller");
    }
}

/// Returns what a repository's branch points at.
fn revision(
    kube: &Kube,
    knobs: &Knobs,
    controller: &Value,
    repository: &Value,
) -> Result<String, Trouble> {
    let spec = &repository["spec"];
    if let Some(secret) = spec["secretRef"]["name"].as_str() {
        let home = namespace(repository);
        find(kube, &SECRETS, home, secret).ok_or_else(|| {
            let why =
                format!("failed to get secret '{home}/{secret}': secrets \"{secret}\" not found");
            ("AuthenticationFailed", why)
        })?;
    }
    let url = spec["url"].as_str().unwrap_or_default();
    let clone = |why: &str| {
        let why =
            format!("failed to checkout and determine revision: unable to clone '{url}': {why}");
        ("GitOperationFailed", why)
    };
    reach(kube, knobs, controller, url).map_err(|why| clone(&why))?;
    let branch = spec["ref"]["branch"].as_str().unwrap_or("master");
    let mut urls = knobs.heads.keys().map(|(known, _)| known);
    if !urls.any(|known| known == url) {
        return Err(clone("repository not found"));
    }
    let head = knobs.heads.get(&(url.to_owned(), branch.to_owned()));
    let head =
        head.ok_or_else(|| clone(&format!("couldn't find remote ref \"refs/heads/{branch}\"")))?;
    // An older commit has another digest; which one it is matters to nobody.
    let head = if knobs.flux_behind { head.chars().rev().collect() } else { head.clone() };
    Ok(format!("{branch}@sha1:{head}"))
}

/// A repository is outside, by its name.
fn reach(kube: &Kube, knobs: &Knobs, controller: &Value, url: &str) -> Result<(), String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    let lost = |why: NameError| format!("dial tcp: {why}");
    resolve(kube, knobs, namespace(controller), host).map_err(lost)?;
    if knobs.egress_blocked {
        return Err(format!("dial tcp {host}: i/o timeout"));
    }
    Ok(())
}

fn stored(kube: &Kube, told: &mut Value, revision: &str, home: &str) {
    let message = format!("stored artifact for revision '{revision}'");
    let (here, name) = (namespace(told).to_owned(), name(told).to_owned());
    if told["status"]["artifact"]["revision"] != revision {
        let commit = revision.rsplit(':').next().unwrap_or_default();
        let path = format!("gitrepository/{here}/{name}/{commit}.tar.gz");
        told["status"]["artifact"] = json!({
            "revision": revision, "digest": format!("sha256:{}", sha256(revision)), "path": path,
            "url": format!("http://source-controller.{home}.svc.cluster.local./{path}"),
            "lastUpdateTime": kube.clock().stamp(), "size": 1024,
        });
    }
    forget(told, "FetchFailed");
    for kind in ["Ready", "ArtifactInStorage"] {
        let said = Said { kind, status: true, reason: "Succeeded", message: &message };
        said.about(kube, told);
    }
}

fn failed(kube: &Kube, told: &mut Value, also: &[&str], (reason, message): &Trouble) {
    for kind in also {
        Said { kind, status: true, reason, message }.about(kube, told);
    }
    Said { kind: "Ready", status: false, reason, message }.about(kube, told);
}

fn forget(told: &mut Value, kind: &str) {
    if let Some(list) = told["status"]["conditions"].as_array_mut() {
        list.retain(|one| one["type"] != kind);
    }
}

/// Applies what the sources hold.
pub(super) fn apply(kube: &Kube, knobs: &Knobs) {
    if leader(kube, KUSTOMIZE).is_none() {
        return;
    }
    for kustomization in kube.all(&KUSTOMIZATIONS, "") {
        if let Some(paused) = knobs.flux_paused {
            pause(kube, &kustomization, paused);
        }
        if is_terminating(&kustomization) || kustomization["spec"]["suspend"] == true {
            continue;
        }
        let mut told = (*kustomization).clone();
        told["status"]["observedGeneration"] = kustomization["metadata"]["generation"].clone();
        let done = artifact(kube, &kustomization).and_then(|(revision, url)| {
            // Drift is looked for every ten minutes only.
            if told["status"]["lastAppliedRevision"] != revision {
                told["status"]["inventory"] = inventory(&deliver(kube, knobs, &url)?, &told);
            }
            Ok(revision)
        });
        match done {
            Ok(revision) => applied(kube, &mut told, &revision),
            Err(trouble) => failed(kube, &mut told, &[], &trouble),
        }
        report(kube, &KUSTOMIZATIONS, &kustomization, told, "kustomize-controller");
    }
}

/// Applies what a repository holds, in the order that others stand on, and
/// returns it.
fn deliver<'a>(kube: &Kube, knobs: &'a Knobs, url: &str) -> Result<Vec<&'a Value>, Trouble> {
    let mut manifests: Vec<_> = knobs.manifests.get(url).into_iter().flatten().collect();
    manifests.sort_by_key(|one| match one["kind"].as_str() {
        Some("Namespace") => 0,
        Some("CustomResourceDefinition") => 1,
        _ => 2,
    });
    let write = Write { force: true, ..Write::by("kustomize-controller") };
    for manifest in &manifests {
        let place = kube.place_of(manifest);
        let patch = Patch::Apply((*manifest).clone());
        place.and_then(|place| kube.patch(&place, &patch, &write)).map_err(|refusal| {
            let (kind, home) = (&manifest["kind"], namespace(manifest));
            let kind = kind.as_str().unwrap_or_default();
            let why = format!("{kind}/{home}/{} dry-run failed: {refusal}", name(manifest));
            ("ReconciliationFailed", why)
        })?;
    }
    Ok(manifests)
}

/// What a Kustomization answers for: its objects, and the root itself, which
/// the repository holds as well.
fn inventory(objects: &[&Value], kustomization: &Value) -> Value {
    let entry = |one: &Value| {
        let api_version = one["apiVersion"].as_str().unwrap_or_default();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = one["kind"].as_str().unwrap_or_default();
        json!({ "id": format!("{}_{}_{group}_{kind}", namespace(one), name(one)), "v": version })
    };
    let id = format!("{}_{}", namespace(kustomization), name(kustomization));
    let id = format!("{id}_kustomize.toolkit.fluxcd.io_Kustomization");
    let root = json!({ "id": id, "v": "v1" });
    let entries: Vec<_> = objects.iter().map(|one| entry(one)).chain([root]).collect();
    json!({ "entries": entries })
}

/// Somebody tells Flux to pause, or to go on.
fn pause(kube: &Kube, kustomization: &Value, paused: bool) {
    if (kustomization["spec"]["suspend"] == true) != paused {
        let mut told = kustomization.clone();
        told["spec"]["suspend"] = json!(paused);
        replace(kube, &KUSTOMIZATIONS, kustomization, told, "flux");
    }
}

/// Returns the revision of the source that is to be applied, and where it is from.
fn artifact(kube: &Kube, kustomization: &Value) -> Result<(String, String), Trouble> {
    let source = &kustomization["spec"]["sourceRef"];
    let home = source["namespace"].as_str().unwrap_or(namespace(kustomization));
    let named = source["name"].as_str().unwrap_or_default();
    if source["kind"] != "GitRepository" {
        let why = format!("sources of kind {} are not simulated", source["kind"]);
        return Err(("ArtifactFailed", why));
    }
    let Some(found) = find(kube, &REPOSITORIES, home, named) else {
        let why = format!("Source 'GitRepository/{home}/{named}' not found");
        return Err(("ArtifactFailed", why));
    };
    let revision = found["status"]["artifact"]["revision"].as_str();
    let ready = has_condition(&found, "Ready", "True");
    let url = found["spec"]["url"].as_str().unwrap_or_default();
    revision
        .filter(|_| ready)
        .map(|revision| (revision.to_owned(), url.to_owned()))
        .ok_or_else(|| ("ArtifactFailed", "Source artifact not found, retrying in 30s".to_owned()))
}

fn applied(kube: &Kube, told: &mut Value, revision: &str) {
    told["status"]["lastAppliedRevision"] = json!(revision);
    told["status"]["lastAttemptedRevision"] = json!(revision);
    let message = format!("Applied revision: {revision}");
    let reason = "ReconciliationSucceeded";
    Said { kind: "Ready", status: true, reason, message: &message }.about(kube, told);
}
