//! Settings of the operating system.

use super::Rule;
use super::counts::unknown_pool;
use super::names::duplicate;
use crate::cluster::{CloudKind, Cluster, DiskKey, InlineManifest, Install, PatchTarget};
use crate::read::{Problem, Problems};

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    check_extensions(cluster, problems);
    check_built_in(cluster, problems);
    check_patches(cluster, problems);
    check_encryption(cluster, problems);
    check_installs(cluster, problems);
    check_installers(cluster, problems);
    check_inline_manifests(cluster, problems);
    check_certificates(cluster, problems);
}

fn check_extensions(cluster: &Cluster, problems: &Problems) {
    let extensions = &cluster.talos.extensions;
    for (index, extension) in extensions.iter().enumerate() {
        if let Some(first) = extensions[..index].iter().find(|other| other.value == extension.value)
        {
            problems.push(
                Problem::error(
                    Rule::DuplicateName,
                    extension.span,
                    format!("the extension `{}` is listed twice", extension.value),
                )
                .label("remove it")
                .related(first.span, "the first time"),
            );
        }
    }
}

/// Nobody makes images yet: what must be built into one is in the one that is named,
/// or nodes lack it without a word.
fn check_built_in(cluster: &Cluster, problems: &Problems) {
    let talos = &cluster.talos;
    let pools = cluster.pools.iter().map(|pool| &pool.group);
    let mut groups = pools.chain([&cluster.control_plane.group]);
    if talos.installer.is_some() || groups.all(|group| group.installer.is_some()) {
        return;
    }
    let extensions = talos.extensions.first().map(|it| (it.span, "extensions"));
    let arguments = talos.kernel_args.first().map(|it| (it.span, "kernelArgs"));
    for (span, key) in [extensions, arguments].into_iter().flatten() {
        let problem = match cluster.cloud.kind() {
            CloudKind::Machines => {
                let message = format!("nobody builds `{key}` into the image");
                Problem::error(Rule::NotBuilt, span, message)
                    .label("name an `installer` that has it, or remove this")
                    .note("nodes are installed from Talos' own image, which does not have it")
                    .help("https://factory.talos.dev makes installers; `talos.installer` names one")
            }
            CloudKind::Hetzner => {
                let message = format!("nobody builds `{key}` into the snapshot");
                Problem::warning(Rule::NotBuilt, span, message)
                    .label("make the snapshot from an image that has it")
                    .note("servers boot from the snapshot that is in the project, as it is")
                    .help("https://factory.talos.dev makes such images; naming the same one's installer in `talos.installer` says that the snapshot has it")
            }
            // Nothing is brought up there yet.
            CloudKind::Proxmox => return,
        };
        problems.push(problem.follows_from(cluster.cloud.at()));
    }
}

fn check_patches(cluster: &Cluster, problems: &Problems) {
    for target in cluster.talos.patches.iter().filter_map(|patch| patch.on.as_ref()) {
        let PatchTarget::Pool(pool) = &target.value else {
            continue;
        };
        if !cluster.pools.iter().any(|known| known.name.value == *pool) {
            let pools = cluster.pools.iter().map(|pool| pool.name.as_str());
            let known =
                ["all", crate::cluster::CONTROL_PLANE_POOL, "all-workers"].into_iter().chain(pools);
            let problem = unknown_pool(pool.as_str(), target.span, known);
            problems.push(
                cluster.pools.iter().fold(problem, |it, pool| it.follows_from(pool.name.span)),
            );
        }
    }
}

fn check_encryption(cluster: &Cluster, problems: &Problems) {
    let Some(encryption) = &cluster.talos.disk_encryption else {
        return;
    };
    for key in [&encryption.state, &encryption.ephemeral].into_iter().flatten() {
        if key.value == DiskKey::Tpm && cluster.cloud.kind() == CloudKind::Hetzner {
            problems.push(
                Problem::error(Rule::NoTpm, key.span, "servers at Hetzner have no TPM")
                    .follows_from(cluster.cloud.at())
                    .label("use `nodeid`"),
            );
        }
    }
}

fn check_installs(cluster: &Cluster, problems: &Problems) {
    let groups = cluster.pools.iter().map(|pool| &pool.group).chain([&cluster.control_plane.group]);
    let machines = match &cluster.cloud {
        crate::cluster::Cloud::Machines(machines) => machines.nodes.as_slice(),
        _ => &[],
    };
    let installs = groups
        .filter_map(|group| group.install.as_ref())
        .chain(machines.iter().filter_map(|machine| machine.install.as_ref()))
        .chain(cluster.talos.install.as_ref());
    let is_installed = matches!(cluster.cloud, crate::cluster::Cloud::Machines(_));
    for install in installs {
        check_install(install, problems);
        if is_installed {
            check_sizes(install, problems);
        }
    }
}

/// Nodes that were installed from another version would be of that version.
fn check_installers(cluster: &Cluster, problems: &Problems) {
    let groups = cluster.pools.iter().map(|pool| &pool.group).chain([&cluster.control_plane.group]);
    let images =
        groups.filter_map(|group| group.installer.as_ref()).chain(&cluster.talos.installer);
    let talos = &cluster.talos.version;
    for image in images {
        let other = image.tag().filter(|tag| *tag != talos.value.to_string());
        let Some(tag) = other else { continue };
        problems.push(
            Problem::error(
                Rule::VersionMismatch,
                image.span,
                format!("this installs Talos `{tag}`"),
            )
            .label(format!("use the tag `{}`", talos.value))
            .related(talos.span, "the Talos version"),
        );
    }
}

fn check_inline_manifests(cluster: &Cluster, problems: &Problems) {
    let manifests = &cluster.talos.inline_manifests;
    for (index, manifest) in manifests.iter().enumerate() {
        let same = |other: &&InlineManifest| other.name.value == manifest.name.value;
        if let Some(first) = manifests[..index].iter().find(same) {
            let name = &manifest.name;
            problems.push(duplicate("inline manifests", name.as_str(), name.span, first.name.span));
        }
    }
}

/// A machine config has room for one size.
fn check_sizes(install: &Install, problems: &Problems) {
    let Some(selector) = &install.disk_selector else {
        return;
    };
    if let (Some(min), Some(max)) = (&selector.min_size, &selector.max_size)
        && min.value <= max.value
    {
        problems.push(
            Problem::error(Rule::AnyDisk, max.span, "Talos takes only one size of a disk")
                .label("remove it, or the smallest size")
                .related(min.span, "this is the smallest"),
        );
    }
}

fn check_install(install: &Install, problems: &Problems) {
    if let Some(disk) = install.disk.as_ref().filter(|disk| !disk.as_str().starts_with("/dev/")) {
        problems.push(
            Problem::error(Rule::BadValue, disk.span, format!("`{}` is not a device", disk.value))
                .label("expected a path such as `/dev/sda` or `/dev/disk/by-id/…`"),
        );
    }
    let Some(selector) = &install.disk_selector else {
        return;
    };
    if selector.is_empty() {
        problems.push(
            Problem::error(Rule::AnyDisk, selector.at, "the selector fits every disk")
                .label("say what the disk is like, such as `type: nvme`")
                .note("Talos erases the disk that it is installed on"),
        );
    }
    if let (Some(min), Some(max)) = (&selector.min_size, &selector.max_size)
        && min.value > max.value
    {
        problems.push(
            Problem::error(Rule::AnyDisk, max.span, "no disk fits the selector")
                .label("this is the largest size")
                .related(min.span, "this is the smallest"),
        );
    }
}

fn check_certificates(cluster: &Cluster, problems: &Problems) {
    let kubernetes = &cluster.kubernetes;
    let rotates = kubernetes.rotate_server_certificates.as_ref().filter(|rotates| rotates.value);
    if let Some(rotates) = rotates.filter(|_| cluster.manifests.is_empty()) {
        problems.push(
            Problem::error(
                Rule::NoApprover,
                rotates.span,
                "nothing would approve the kubelets' certificates",
            )
            .label("bring an approver with `manifests`, or use `false`")
            .note(
                "without one no serving certificate is issued, and `kubectl logs` and metrics fail",
            ),
        );
    }
    if let Some(approver) = &kubernetes.certificate_approver
        && !matches!(approver.as_str().split('/').collect::<Vec<_>>().as_slice(), [a, b] if !a.is_empty() && !b.is_empty())
    {
        problems.push(
            Problem::error(
                Rule::BadValue,
                approver.span,
                format!("`{}` does not name a deployment", approver.value),
            )
            .label("expected `namespace/name`"),
        );
    }
}
