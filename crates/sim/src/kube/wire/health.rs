//! Whether the server is well, as `/readyz` and its like say it.

use std::fmt::Write as _;

use http::Response;

use super::body::{self, Body};

const CHECKS: &[&str] = &[
    "ping",
    "log",
    "etcd",
    "etcd-readiness",
    "informer-sync",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/bootstrap-controller",
    "shutdown",
];

/// Answers whether the server, or one of its checks, is well.
pub(super) fn answer(path: &str, check: &str, verbose: bool) -> Response<Body> {
    if !check.is_empty() {
        let known = CHECKS.contains(&check);
        return if known { body::text(200, "ok") } else { body::text(404, "404 page not found\n") };
    }
    if !verbose {
        return body::text(200, "ok");
    }
    let mut lines = String::new();
    for check in CHECKS {
        let _ = writeln!(lines, "[+]{check} ok");
    }
    let endpoint = path.trim_matches('/');
    body::text(200, format!("{lines}{endpoint} check passed\n"))
}
