//! Versions that do not fit together.

use super::Rule;
use crate::cluster::{Addon, Cluster};
use crate::read::{Problem, Problems};
use crate::versions::{self, TALOS, Verdict};

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    check_talos(cluster, problems);
    check_kubernetes(cluster, problems);
    for addon in cluster.addons.iter() {
        check_addon(cluster, addon, problems);
    }
}

fn check_talos(cluster: &Cluster, problems: &Problems) {
    let talos = &cluster.talos.version;
    let (oldest, newest) = (TALOS[0].talos, TALOS[TALOS.len() - 1].talos);
    if talos.minor() < oldest {
        problems.push(
            Problem::error(
                Rule::UnsupportedVersion,
                talos.span,
                format!("Talos {} is too old", talos.value),
            )
            .label(format!(
                "{} to {} are supported",
                release(oldest),
                release(newest)
            )),
        );
    } else if talos.minor() > newest {
        problems.push(
            Problem::warning(
                Rule::UntestedVersion,
                talos.span,
                format!(
                    "Talos {} is newer than this version of seaworthy",
                    talos.value
                ),
            )
            .label(format!(
                "{} to {} are tested",
                release(oldest),
                release(newest)
            )),
        );
    }
}

fn check_kubernetes(cluster: &Cluster, problems: &Problems) {
    let (talos, kubernetes) = (&cluster.talos.version, &cluster.kubernetes.version);
    let Some(row) = versions::talos_release(talos) else {
        return;
    };
    if row.runs(kubernetes) {
        if kubernetes.minor() > versions::newest_kubernetes() {
            problems.push(
                Problem::warning(
                    Rule::UntestedVersion,
                    kubernetes.span,
                    format!(
                        "no addon is known to be tested with Kubernetes {}",
                        kubernetes.value
                    ),
                )
                .label(format!(
                    "{} is the newest that is",
                    release(versions::newest_kubernetes())
                )),
            );
        }
        return;
    }
    let problem = Problem::error(
        Rule::VersionMismatch,
        kubernetes.span,
        format!(
            "Talos {} does not run Kubernetes {}",
            talos.value, kubernetes.value
        ),
    )
    .label(format!(
        "Talos {} runs {} to {}",
        release(row.talos),
        release(row.oldest),
        release(row.newest)
    ))
    .related(talos.span, "the Talos version");
    let fitting: Vec<String> = TALOS
        .iter()
        .filter(|other| other.runs(kubernetes))
        .map(|other| release(other.talos))
        .collect();
    problems.push(match fitting.as_slice() {
        [] => problem,
        [one] => problem.help(format!("Talos {one} runs it")),
        several => problem.help(format!("Talos {} run it", several.join(" and "))),
    });
}

fn check_addon(cluster: &Cluster, addon: &Addon, problems: &Problems) {
    let (name, kubernetes) = (addon.name.value, &cluster.kubernetes.version);
    if let Some(oldest) =
        versions::oldest_kubernetes(name).filter(|oldest| kubernetes.minor() < *oldest)
    {
        problems.push(
            Problem::error(
                Rule::VersionMismatch,
                addon.name.span,
                format!("{name} does not run on Kubernetes {}", kubernetes.value),
            )
            .label(format!("it needs {} or newer", release(oldest)))
            .related(kubernetes.span, "the Kubernetes version"),
        );
    }
    let Some(version) = &addon.version else {
        return;
    };
    let fitting = versions::default_version(name, kubernetes);
    if let Some(bad) = versions::bad_release(name, version) {
        let problem = match bad.verdict {
            Verdict::Denied => Problem::error(
                Rule::DeniedVersion,
                version.span,
                format!("{name} {} must not be used", version.value),
            ),
            Verdict::Doubtful => Problem::warning(
                Rule::DoubtfulVersion,
                version.span,
                format!("{name} {} is doubtful", version.value),
            ),
        };
        let problem = problem.note(bad.reason);
        problems.push(if kubernetes.span.is_nowhere() {
            problem
        } else {
            problem.label(format!("{fitting} fits Kubernetes {}", kubernetes.value))
        });
        return;
    }
    if let Some(need) =
        versions::need_of(name, kubernetes).filter(|need| version.value < need.at_least)
    {
        problems.push(
            Problem::error(
                Rule::VersionMismatch,
                version.span,
                format!(
                    "{name} {} does not support Kubernetes {}",
                    version.value, kubernetes.value
                ),
            )
            .label(format!("use {} or newer", need.at_least))
            .related(kubernetes.span, "the Kubernetes version"),
        );
    }
}

fn release((major, minor): (u64, u64)) -> String {
    format!("v{major}.{minor}")
}
