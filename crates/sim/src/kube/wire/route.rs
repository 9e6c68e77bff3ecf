//! What a path is about.

use std::sync::Arc;

use crate::kube::Kube;
use crate::kube::api::Place;
use crate::kube::refusal::Refusal;

/// What a path is about.
#[derive(Clone, Debug)]
pub(super) enum Route {
    /// Objects.
    Object(Box<Place>),
    /// The versions of the core group: `/api`.
    Core,
    /// The groups: `/apis`.
    Groups,
    /// One group: `/apis/apps`.
    Group(String),
    /// The kinds of one version: `/api/v1`, `/apis/apps/v1`.
    Kinds(String, String),
    /// The version of the cluster.
    Version,
    /// Whether the server is well; the check, where one is named.
    Health(String),
    /// The schemas; the group and version, where one is named.
    OpenApi(String),
    /// Anything else.
    Unknown,
}

impl Route {
    /// Reads a path.
    pub(super) fn parse(path: &str, kube: &Kube) -> Result<Self, Refusal> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        Ok(match parts.as_slice() {
            ["version"] => Self::Version,
            ["healthz" | "livez" | "readyz"] => Self::Health(String::new()),
            ["healthz" | "livez" | "readyz", check] => Self::Health((*check).to_owned()),
            ["openapi", "v3", rest @ ..] => Self::OpenApi(rest.join("/")),
            ["api"] => Self::Core,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group((*group).to_owned()),
            ["api", version] => Self::Kinds(String::new(), (*version).to_owned()),
            ["apis", group, version] => Self::Kinds((*group).to_owned(), (*version).to_owned()),
            ["api", version, rest @ ..] => object(kube, "", version, rest)?,
            ["apis", group, version, rest @ ..] => object(kube, group, version, rest)?,
            _ => Self::Unknown,
        })
    }
}

fn object(kube: &Kube, group: &str, version: &str, rest: &[&str]) -> Result<Route, Refusal> {
    let known = |plural: &str| {
        let state = kube.state();
        state.registry.find(group, version, plural).map(Arc::clone)
    };
    let part = |parts: &[&str], at: usize| parts.get(at).copied().unwrap_or_default().to_owned();
    // `namespaces/a/status` is a part of a namespace, `namespaces/a/pods` is not.
    let (namespace, rest) = match rest {
        ["namespaces", namespace, inner @ ..] if !matches!(inner, [] | ["status" | "finalize"]) => {
            (*namespace, inner)
        }
        rest => ("", rest),
    };
    let served =
        kube.resources().iter().any(|one| one.key.group == group && one.version(version).is_some());
    let Some(resource) = known(&part(rest, 0)) else {
        return if served { Err(Refusal::no_such_path()) } else { Ok(Route::Unknown) };
    };
    let (name, subresource) = (part(rest, 1), part(rest, 2));
    let misplaced = !resource.is_namespaced() && !namespace.is_empty();
    let homeless = resource.is_namespaced() && namespace.is_empty() && !name.is_empty();
    let partless = !subresource.is_empty() && !resource.has(&subresource);
    // What follows a proxy is a path of somebody else.
    let too_long = rest.len() > 3 && subresource != "proxy";
    if misplaced || homeless || partless || too_long {
        return Err(Refusal::no_such_path());
    }
    let (namespace, version) = (namespace.to_owned(), version.to_owned());
    Ok(Route::Object(Box::new(Place { resource, version, namespace, name, subresource })))
}
