//! Addons that cannot work, or not together.

use super::Rule;
use crate::cluster::{
    Addon, AddonName, AddonOptions, After, CloudKind, Cluster, Delivery, GitAccess, ManifestSource,
    SealingKey,
};
use crate::read::{Problem, Problems, Span};

/// Addons that carry a secret, which a machine config must not.
const WITH_SECRETS: [AddonName; 3] =
    [AddonName::SealedSecrets, AddonName::Flux, AddonName::ProxmoxCsi];

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    check_cni(cluster, problems);
    for addon in cluster.addons.iter() {
        check_cloud(cluster, addon, problems);
        check_source(addon, problems);
        check_delivery(addon, problems);
        check_gitops(cluster, addon, problems);
        match &addon.options {
            AddonOptions::Flux(git) => check_git(git, problems),
            AddonOptions::SealedSecrets { key: Some(key) } => check_sealing_key(key, problems),
            _ => {}
        }
    }
    check_dns(cluster, problems);
}

fn check_cni(cluster: &Cluster, problems: &Problems) {
    // Manifests may bring a pod network of their own.
    let brings_one = |manifest: &ManifestSource| manifest.after() == After::Api;
    if cluster.addons.get(AddonName::Cilium).is_some() || cluster.manifests.iter().any(brings_one) {
        return;
    }
    let problem = Problem::error(
        Rule::NoCni,
        cluster.addons.at().unwrap_or(cluster.kubernetes.version.span),
        "the cluster has no pod network",
    );
    let problem = problem.label("add `cilium: {}` to `addons`");
    problems.push(match cluster.manifests.first() {
        None => problem.note("without one no node becomes ready"),
        Some(manifest) => problem
            .related(manifest.name.span, "if this brings one, it needs `after: api`")
            .note("no node becomes ready without one, so that nothing behind `ready` can bring it"),
    });
}

fn check_cloud(cluster: &Cluster, addon: &Addon, problems: &Problems) {
    let cloud = cluster.cloud.kind();
    let home = match addon.name.value {
        AddonName::HcloudCcm | AddonName::HcloudCsi => CloudKind::Hetzner,
        AddonName::ProxmoxCsi => CloudKind::Proxmox,
        _ => return,
    };
    if cloud != home {
        problems.push(
            Problem::error(
                Rule::ForeignAddon,
                addon.name.span,
                format!("{} only works on {}", addon.name.value, home.as_str()),
            )
            .label(format!("this cluster runs on {}", cloud.as_str()))
            .related(cluster.cloud.at(), "its cloud"),
        );
    }
}

fn check_source(addon: &Addon, problems: &Problems) {
    let Some(rendered) = &addon.rendered else {
        return;
    };
    let others = [
        ("chart", addon.chart.as_ref().map(|chart| chart.at)),
        ("values", addon.values.as_ref().map(|values| values.span)),
        ("valuesFiles", addon.values_files.first().map(|file| file.span)),
    ];
    for (key, span) in others {
        let Some(span) = span else { continue };
        problems.push(
            Problem::error(
                Rule::ExclusiveKeys,
                span,
                format!("`rendered` and `{key}` exclude each other"),
            )
            .label("remove one of them")
            .related(
                rendered.span,
                "manifests that are rendered already take no chart and no values",
            ),
        );
    }
}

fn check_delivery(addon: &Addon, problems: &Problems) {
    let Some(delivery) =
        addon.delivery.as_ref().filter(|delivery| delivery.value == Delivery::Inline)
    else {
        return;
    };
    if WITH_SECRETS.contains(&addon.name.value) {
        problems.push(
            Problem::error(Rule::InlineSecret, delivery.span, format!("{} cannot be delivered inline", addon.name.value))
                .label("use `apply`")
                .note("it comes with a secret, and a machine config is readable on every node and in the state"),
        );
    }
}

fn check_gitops(cluster: &Cluster, addon: &Addon, problems: &Problems) {
    let Some(by) = addon.by.as_ref().filter(|_| addon.is_by_gitops()) else {
        return;
    };
    let name = addon.name.value;
    if matches!(name, AddonName::Cilium | AddonName::HcloudCcm | AddonName::Flux) {
        let note = match name {
            AddonName::Cilium => "Flux' own pods need a pod network",
            AddonName::HcloudCcm => {
                "no pod of Flux is scheduled before the cloud controller has seen the nodes"
            }
            _ => "Flux cannot install itself",
        };
        problems.push(
            Problem::error(
                Rule::NeededBeforeGitops,
                by.span,
                format!("{name} is needed before gitops works"),
            )
            .label("use `seaworthy`")
            .note(note),
        );
    } else if cluster.addons.get(AddonName::Flux).is_none() {
        problems.push(
            Problem::error(Rule::NoGitops, by.span, format!("nothing would install {name}"))
                .label("`gitops` needs the addon `flux`"),
        );
    }
    let unused = [
        ("version", addon.version.as_ref().map(|it| it.span)),
        ("values", addon.values.as_ref().map(|it| it.span)),
        ("valuesFiles", addon.values_files.first().map(|it| it.span)),
        ("chart", addon.chart.as_ref().map(|it| it.at)),
        ("rendered", addon.rendered.as_ref().map(|it| it.span)),
        ("delivery", addon.delivery.as_ref().map(|it| it.span)),
    ];
    for (key, span) in unused {
        let Some(span) = span else { continue };
        problems.push(no_effect(key, span, by.span));
    }
}

fn no_effect(key: &str, span: Span, by: Span) -> Problem {
    Problem::warning(Rule::NoEffect, span, format!("`{key}` has no effect here"))
        .label("the repository decides")
        .related(by, "because of this")
}

fn check_git(git: &GitAccess, problems: &Problems) {
    let repository = &git.repository;
    let ssh =
        [("privateKeyFile", &git.private_key_file), ("knownHostsFile", &git.known_hosts_file)];
    let https = [("credentialsFile", &git.credentials_file)];
    let (wrong, scheme) =
        if repository.is_ssh() { (&https[..], "https://") } else { (&ssh[..], "ssh://") };
    for (key, file) in wrong {
        let Some(file) = file else { continue };
        problems.push(
            Problem::error(
                Rule::GitAccess,
                file.span,
                format!("`{key}` is for `{scheme}` repositories"),
            )
            .label("remove it")
            .related(repository.span, "the repository"),
        );
    }
    if repository.is_ssh() && git.known_hosts_file.is_none() {
        problems.push(
            Problem::warning(
                Rule::UnknownHostKey,
                repository.span,
                format!("nothing says which key {} has", repository.host()),
            )
            .label("set `knownHostsFile`")
            .note("without it the one in your own known_hosts is taken"),
        );
    }
}

fn check_sealing_key(key: &SealingKey, problems: &Problems) {
    let generate = key.generate.as_ref().filter(|generate| generate.value);
    match (generate, &key.certificate_file, &key.private_key_file) {
        (Some(generate), Some(file), _) | (Some(generate), None, Some(file)) => problems.push(
            Problem::error(
                Rule::SealingKey,
                file.span,
                "a key is either generated or taken from files",
            )
            .label("remove one of them")
            .related(generate.span, "generate"),
        ),
        (None, Some(file), None) => problems.push(
            Problem::error(Rule::SealingKey, file.span, "the private key is missing")
                .label("set `privateKeyFile` too"),
        ),
        (None, None, Some(file)) => problems.push(
            Problem::error(Rule::SealingKey, file.span, "the certificate is missing")
                .label("set `certificateFile` too"),
        ),
        (None, None, None) => problems.push(
            Problem::error(Rule::SealingKey, key.at, "there would be no sealing key")
                .follows_from(key.generate.as_ref().map_or(key.at, |generate| generate.span))
                .label("use `generate: true`, or name the files of a key that exists"),
        ),
        (Some(_), None, None) | (None, Some(_), Some(_)) => {}
    }
}

/// BPF masquerading takes packets past the node's resolver.
fn check_dns(cluster: &Cluster, problems: &Problems) {
    let Some(cilium) = cluster.addons.get(AddonName::Cilium) else {
        return;
    };
    let forwards =
        cluster.talos.forward_kube_dns_to_host.as_ref().filter(|forwards| forwards.value);
    let masquerades = cilium.value(&["bpf", "masquerade"]).unwrap_or(true);
    let legacy = cilium.value(&["bpf", "hostLegacyRouting"]).unwrap_or(false);
    // Values in files may say otherwise; only preflight can read them.
    let unknown =
        !cilium.values_files.is_empty() || cilium.rendered.is_some() || cilium.chart.is_some();
    if let Some(forwards) = forwards.filter(|_| masquerades && !legacy && !unknown) {
        problems.push(
            Problem::error(Rule::DnsForwarding, forwards.span, "pods would have no DNS")
                .label("use `false`")
                .related(cilium.name.span, "Cilium masquerades in BPF, past the node's resolver"),
        );
    }
}
