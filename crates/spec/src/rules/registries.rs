//! Registries of images, and how nodes get into them.

use super::Rule;
use crate::cluster::{Cluster, Registry};
use crate::read::{Problem, Problems, Span};
use crate::scalar::RegistryHost;

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    for (host, registry) in &cluster.talos.registries {
        check_use(registry, problems);
        check_identity(registry, problems);
        if let Some(plain) = without_tls(cluster, &host.value) {
            check_plain(&host.value, registry, plain, problems);
        }
    }
}

fn check_use(registry: &Registry, problems: &Problems) {
    let Registry { endpoints, skip_fallback, credentials_file, ca_file, .. } = registry;
    let has_files = [credentials_file, ca_file, &registry.certificate_file]
        .into_iter()
        .chain([&registry.private_key_file])
        .any(Option::is_some);
    match skip_fallback {
        Some(skip) if skip.value && endpoints.is_empty() => problems.push(
            Problem::error(Rule::MissingKey, skip.span, "no image could be pulled from anywhere")
                .follows_from(registry.at)
                .label("set `endpoints` too"),
        ),
        _ if endpoints.is_empty() && !has_files => problems.push(
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
