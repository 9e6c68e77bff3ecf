//! Registries of images, and how nodes get into them.

use super::Rule;
use crate::cluster::{Cluster, Registry};
use crate::read::{Problem, Problems, Span};
use crate::scalar::RegistryHost;

/// Two names of one registry: nodes ask the second for images of the first.
const DOCKER_HUB: [&str; 2] = ["docker.io", "registry-1.docker.io"];

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    for (host, registry) in &cluster.talos.registries {
        check_use(registry, problems);
        check_identity(registry, problems);
        if let Some(plain) = without_tls(cluster, &host.value) {
            check_plain(&host.value, registry, plain, problems);
        }
    }
    check_docker_hub(cluster, problems);
}

fn has_files(registry: &Registry) -> bool {
    let Registry { credentials_file, ca_file, certificate_file, private_key_file, .. } = registry;
    [credentials_file, ca_file, certificate_file, private_key_file].into_iter().any(Option::is_some)
}

/// One would be lost: a host has one way in.
fn check_docker_hub(cluster: &Cluster, problems: &Problems) {
    let [first, second] = DOCKER_HUB.map(|name| {
        let mut all = cluster.talos.registries.iter();
        all.find(|(host, registry)| host.as_str() == name && has_files(registry))
    });
    if let (Some((first, _)), Some((second, _))) = (first, second) {
        let message = format!("`{}` and `{}` are one registry", first.value, second.value);
        problems.push(
            Problem::error(Rule::RegistryAccess, second.span, message)
                .label(format!("move its files to `{}`", first.value))
                .related(first.span, "nodes ask the other for these images"),
        );
    }
}

fn check_use(registry: &Registry, problems: &Problems) {
    let Registry { endpoints, skip_fallback, .. } = registry;
    match skip_fallback {
        Some(skip) if skip.value && endpoints.is_empty() => problems.push(
            Problem::error(Rule::MissingKey, skip.span, "no image could be pulled from anywhere")
                .follows_from(registry.at)
                .label("set `endpoints` too"),
        ),
        _ if endpoints.is_empty() && !has_files(registry) => problems.push(
            Problem::error(Rule::MissingKey, registry.at, "a registry that changes nothing")
                .label("give `endpoints`, `credentialsFile` or `caFile`"),
        ),
        _ => {}
    }
}

fn check_identity(registry: &Registry, problems: &Problems) {
    let (file, what, label) = match (&registry.certificate_file, &registry.private_key_file) {
        (Some(file), None) => (file, "the private key is missing", "set `privateKeyFile` too"),
        (None, Some(file)) => (file, "the certificate is missing", "set `certificateFile` too"),
        _ => return,
    };
    problems.push(Problem::error(Rule::RegistryAccess, file.span, what).label(label));
}

/// Returns where the file says that a host is reached without TLS.
fn without_tls(cluster: &Cluster, host: &RegistryHost) -> Option<Span> {
    let all = cluster.talos.registries.iter().flat_map(|(_, registry)| &registry.endpoints);
    let is_it = |url: &str| {
        let rest = url.strip_prefix("http://");
        rest.is_some_and(|rest| rest.split('/').next() == Some(host.as_str()))
    };
    all.into_iter().find(|url| is_it(url.as_str())).map(|url| url.span)
}

/// Talos pulls nothing at all from such a host.
fn check_plain(host: &RegistryHost, registry: &Registry, plain: Span, problems: &Problems) {
    for file in [&registry.ca_file, &registry.certificate_file].into_iter().flatten() {
        let message = format!("`{host}` is reached without TLS");
        problems.push(
            Problem::error(Rule::RegistryAccess, file.span, message)
                .label("remove it, or use `https://`")
                .related(plain, "without TLS here"),
        );
    }
    if let Some(file) = &registry.credentials_file {
        let message = format!("`{host}` gets its password without TLS");
        problems.push(
            Problem::warning(Rule::RegistryAccess, file.span, message)
                .label("whoever is in between can read it")
                .related(plain, "without TLS here"),
        );
    }
}
