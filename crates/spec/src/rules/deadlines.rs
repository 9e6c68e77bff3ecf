//! Times that contradict each other.

use super::Rule;
use crate::cluster::{Cluster, HealthCheck};
use crate::plan::{Stage, Timeouts};
use crate::read::{Problem, Problems, Span};
use crate::scalar::Duration;

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    check_stability(cluster, problems);
    let balancer = cluster.control_plane.load_balancer.as_ref();
    if let Some(check) = balancer.and_then(|balancer| balancer.health_check.as_ref()) {
        check_health(check, problems);
    }
}

fn check_stability(cluster: &Cluster, problems: &Problems) {
    let window = cluster.stability_window.as_ref();
    let length = window.map_or(Timeouts::STABILITY_WINDOW, |window| window.value);
    let Err(too_short) = Timeouts::of(cluster).check(length) else {
        return;
    };
    let set: Vec<Span> = cluster
        .timeouts
        .iter()
        .filter(|(stage, _)| stage.value == Stage::Proof)
        .map(|(_, timeout)| timeout.span)
        .chain(window.map(|window| window.span))
        .collect();
    let Some(at) = set.first() else { return };
    let problem = Problem::error(Rule::ProofTooShort, *at, "the proof would never end in time")
        .label(too_short.to_string());
    problems.push(match set.get(1) {
        Some(other) => problem.related(*other, "the stability window"),
        None => problem,
    });
}

fn check_health(check: &HealthCheck, problems: &Problems) {
    let (least, most) = (Duration::from_secs(3), Duration::from_secs(60));
    let interval = check.interval.as_ref().map_or(HealthCheck::INTERVAL, |interval| interval.value);
    if let Some(asked) =
        check.interval.as_ref().filter(|asked| !(least..=most).contains(&asked.value))
    {
        problems.push(
            Problem::error(
                Rule::HealthCheck,
                asked.span,
                format!("the load balancer cannot ask every {}", asked.value),
            )
            .label(format!("use {least} to {}", most.as_secs().to_string() + "s")),
        );
    }
    if let Some(timeout) = check.timeout.as_ref().filter(|timeout| timeout.value > interval) {
        problems.push(
            Problem::error(
                Rule::HealthCheck,
                timeout.span,
                "the health check waits longer than its interval",
            )
            .label(format!("use at most {interval}"))
            .follows_from(check.interval.as_ref().map_or(timeout.span, |interval| interval.span)),
        );
    }
}
