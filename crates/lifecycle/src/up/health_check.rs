//! The health check of a load balancer: what it asks for, and what a control plane
//! answers to the same question. Hetzner tells only whether a target is healthy.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clouds::hetzner::{HealthCheck, LoadBalancer};
use objects::Access;
use spec::plan::NodePlan;

use crate::Site;
use crate::hetzner::API_PORT;

/// How long a control plane is asked for what only adds to a reason.
const ASIDE: Duration = Duration::from_secs(3);

/// Says what the load balancer asks its targets for, and what one of them answers.
pub(super) async fn told(
    site: &Site,
    balancer: &LoadBalancer,
    node: Option<&NodePlan>,
) -> Option<String> {
    let check = &balancer.service(API_PORT)?.health_check;
    let asked = asked(check);
    let Some(node) = node else { return Some(asked) };
    match answer(site, check, node).await {
        Some(status) if is_expected(check, status) => {
            Some(format!("{asked}; from here {} answers {status}, as expected", node.name))
        }
        Some(status) => Some(format!("{asked}; {} answers {status}", node.name)),
        None => Some(asked),
    }
}

/// How long a load balancer may take to notice that a target is well.
pub(super) fn settles(balancer: &LoadBalancer) -> Duration {
    let check = balancer.service(API_PORT).map(|service| &service.health_check);
    let seconds = check.map_or(0, |check| check.interval * check.retries + check.timeout);
    Duration::from_secs(seconds.into())
}

fn asked(check: &HealthCheck) -> String {
    match &check.http {
        Some(http) => {
            let tls = if http.tls { "with TLS" } else { "without TLS" };
            let expected = http.status_codes.join(", ");
            let HealthCheck { port, .. } = check;
            format!(
                "its health check is GET {} {tls} on port {port}, and expects {expected}",
                http.path
            )
        }
        None => format!("its health check is a connection to port {}", check.port),
    }
}

/// Asks a control plane as the load balancer does: without a credential. Who cannot be
/// asked adds nothing.
async fn answer(site: &Site, check: &HealthCheck, node: &NodePlan) -> Option<u16> {
    let (http, address) = (check.http.as_ref()?, site.address(&node.name)?);
    let server = server(http.tls, address, check.port);
    let authority = site.kubernetes_admin().authority().pem();
    let asking = async {
        let access = Access::anonymous(&server, authority).ok()?;
        let cluster = access.proxies(Arc::clone(&site.proxies)).connect().await.ok()?;
        cluster.status(&http.path).await.ok()
    };
    tokio::time::timeout(ASIDE, asking).await.ok()?
}

fn server(tls: bool, address: IpAddr, port: u16) -> String {
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(address, port))
}

/// A `?` stands for any digit.
fn is_expected(check: &HealthCheck, status: u16) -> bool {
    let status = status.to_string();
    let fits = |pattern: &String| {
        let pairs = pattern.chars().zip(status.chars());
        pattern.len() == status.len() && { pairs }.all(|(want, is)| want == '?' || want == is)
    };
    check.http.as_ref().is_some_and(|http| http.status_codes.iter().any(fits))
}

#[cfg(test)]
mod tests {
    use clouds::hetzner::HttpCheck;

    use super::*;

    fn check(codes: &[&str]) -> HealthCheck {
        HealthCheck {
            protocol: "http".to_owned(),
            port: 6443,
            interval: 15,
            timeout: 10,
            retries: 3,
            http: Some(HttpCheck {
                domain: None,
                path: "/version".to_owned(),
                response: None,
                status_codes: codes.iter().map(|&code| code.to_owned()).collect(),
                tls: true,
            }),
        }
    }

    #[test]
    fn statuses_are_expected_as_hetzner_writes_them() {
        let expects = |codes: &[&str], status| is_expected(&check(codes), status);
        assert!(expects(&["401"], 401) && expects(&["2??", "3??"], 302));
        assert!(!expects(&["2??"], 401) && !expects(&["20"], 200) && !expects(&[], 200));
    }

    #[test]
    fn a_check_is_told_with_all_that_decides_it() {
        let told = "its health check is GET /version with TLS on port 6443, and expects 401";
        assert_eq!(asked(&check(&["401"])), told);
    }
}
