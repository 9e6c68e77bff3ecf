//! Who can come in.

use super::Rule;
use crate::cluster::{Cluster, Firewall, Protocol, Sources};
use crate::plan::{TALOS_PORT, firewall_rules};
use crate::read::{Problem, Problems};

/// Hetzner's limits for one firewall.
const MOST_RULES: usize = 50;
const MOST_EFFECTIVE: usize = 500;

pub(super) fn check(cluster: &Cluster, problems: &Problems) {
    let Some(firewall) = &cluster.firewall else {
        return;
    };
    check_sources(firewall, problems);
    check_everybody(firewall, problems);
    check_ports(firewall, problems);
    check_limits(firewall, problems);
}

fn check_sources(firewall: &Firewall, problems: &Problems) {
    let apis = [("Talos", &firewall.talos_api), ("Kubernetes", &firewall.kubernetes_api)];
    for (api, sources) in apis {
        let Some(Sources { at, ranges }) = sources else {
            continue;
        };
        if ranges.is_empty() {
            problems.push(
                Problem::error(
                    Rule::NobodyMayEnter,
                    *at,
                    format!("nobody could reach the {api} API"),
                )
                .label("name a source, such as `my-ip`")
                .note("seaworthy itself has to reach it"),
            );
        }
    }
    for exception in firewall.extra.iter().filter(|exception| exception.sources.is_empty()) {
        problems.push(
            Problem::error(Rule::NobodyMayEnter, exception.at, "an opening for nobody")
                .label("name a source"),
        );
    }
}

fn check_everybody(firewall: &Firewall, problems: &Problems) {
    let ranges = firewall.talos_api.iter().flat_map(|sources| &sources.ranges);
    for range in ranges.filter(|range| range.is_everybody()) {
        problems.push(
            Problem::warning(
                Rule::OpenToAll,
                range.span,
                format!("everybody can reach port {TALOS_PORT}"),
            )
            .label("name the networks that need it")
            .note("until it has its config, a node takes one from whoever comes first"),
        );
    }
}

fn check_ports(firewall: &Firewall, problems: &Problems) {
    for exception in &firewall.extra {
        let has_ports = matches!(exception.protocol.value, Protocol::Tcp | Protocol::Udp);
        match &exception.port {
            None if has_ports => problems.push(
                Problem::error(Rule::MissingKey, exception.protocol.span, "the port is missing")
                    .label("this protocol has ports: set `port`"),
            ),
            Some(port) if !has_ports => problems.push(
                Problem::error(Rule::BadValue, port.span, "this protocol has no ports")
                    .label("remove it")
                    .related(exception.protocol.span, "the protocol"),
            ),
            _ => {}
        }
    }
}

fn check_limits(firewall: &Firewall, problems: &Problems) {
    let rules = firewall_rules(Some(firewall));
    let effective: usize = rules.iter().map(|rule| rule.sources.len()).sum();
    if rules.len() > MOST_RULES {
        problems.push(
            Problem::error(
                Rule::FirewallTooLarge,
                firewall.at,
                format!("the firewall would have {} rules", rules.len()),
            )
            .label(format!("Hetzner allows {MOST_RULES}, three of them are ours")),
        );
    } else if effective > MOST_EFFECTIVE {
        problems.push(
            Problem::error(
                Rule::FirewallTooLarge,
                firewall.at,
                format!("the firewall would have {effective} pairs of rule and source"),
            )
            .label(format!("Hetzner allows {MOST_EFFECTIVE}")),
        );
    }
}
