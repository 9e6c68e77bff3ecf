//! Versions that do not fit together.

use super::Rule;
use crate::cluster::{Addon, AddonName, Cluster};
use crate::read::{Problem, Problems, Spanned};
use crate::scalar::Version;
use crate::versions::{self, BadRelease, TALOS, Verdict, release};

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
            .label(format!("{} to {} are supported", release(oldest), release(newest))),
        );
    } else if talos.minor() > newest {
        problems.push(
            Problem::warning(
                Rule::UntestedVersion,
                talos.span,
                format!("Talos {} is newer than this version of seaworthy", talos.value),
            )
            .label(format!("{} to {} are tested", release(oldest), release(newest))),
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
                    format!("no addon is known to be tested with Kubernetes {}", kubernetes.value),
                )
                .label(format!("{} is the newest that is", release(versions::newest_kubernetes()))),
            );
        }
        return;
    }
    let problem = Problem::error(
        Rule::VersionMismatch,
        kubernetes.span,
        format!("Talos {} does not run Kubernetes {}", talos.value, kubernetes.value),
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
        [one, other] => problem.help(format!("Talos {one} and {other} run it")),
        [first, .., last] => problem.help(format!("Talos {first} to {last} run it")),
    });
}

fn check_addon(cluster: &Cluster, addon: &Addon, problems: &Problems) {
    check_oldest_kubernetes(cluster, addon, problems);
    let (name, kubernetes) = (addon.name.value, &cluster.kubernetes.version);
    let Some(version) = &addon.version else {
        return;
    };
    if let Some(bad) = versions::bad_release(name, version) {
        problems.push(bad_version(name, version, &bad, kubernetes));
        return;
    }
    let need = versions::need_of(name, kubernetes).filter(|need| version.value < need.at_least);
    if let Some(need) = need {
        let message =
            format!("{name} {} does not support Kubernetes {}", version.value, kubernetes.value);
        problems.push(
            Problem::error(Rule::VersionMismatch, version.span, message)
                .label(format!("use {} or newer", need.at_least))
                .related(kubernetes.span, "the Kubernetes version"),
        );
    }
}

fn check_oldest_kubernetes(cluster: &Cluster, addon: &Addon, problems: &Problems) {
    let (name, kubernetes) = (addon.name.value, &cluster.kubernetes.version);
    let oldest = versions::oldest_kubernetes(name).filter(|oldest| kubernetes.minor() < *oldest);
    if let Some(oldest) = oldest {
        let message = format!("{name} does not run on Kubernetes {}", kubernetes.value);
        problems.push(
            Problem::error(Rule::VersionMismatch, addon.name.span, message)
                .label(format!("it needs {} or newer", release(oldest)))
                .related(kubernetes.span, "the Kubernetes version"),
        );
    }
}

fn bad_version(
    name: AddonName,
    version: &Spanned<Version>,
    bad: &BadRelease,
    kubernetes: &Spanned<Version>,
) -> Problem {
    let (at, shown) = (version.span, &version.value);
    let problem = match bad.verdict {
        Verdict::Denied => {
            Problem::error(Rule::DeniedVersion, at, format!("{name} {shown} must not be used"))
        }
        Verdict::Doubtful => {
            Problem::warning(Rule::DoubtfulVersion, at, format!("{name} {shown} is doubtful"))
        }
    };
    let problem = problem.note(bad.reason);
    if kubernetes.span.is_nowhere() {
        return problem;
    }
    let fitting = versions::default_version(name, kubernetes);
    problem.label(format!("{fitting} fits Kubernetes {}", kubernetes.value))
}
