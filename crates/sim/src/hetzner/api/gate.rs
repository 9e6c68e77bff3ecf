//! What every call passes: counting, token, limits, headers.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::routes::without_version;
use crate::hetzner::desk::{Desk, PART, lock};
use crate::hetzner::knobs::Access;
use crate::hetzner::rate_limit::Allowance;
use crate::hetzner::refusal::{Code, Refusal};

/// Lets a call pass, or answers in its place.
pub(crate) async fn gate(State(desk): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    desk.effects.asked(PART, &route_of(&request));
    if desk.touch(|project| project.knobs.spend_bad_gateway()) {
        let page = Html("<html><body><h1>502 Bad Gateway</h1></body></html>");
        return (StatusCode::BAD_GATEWAY, page).into_response();
    }
    let (allowance, admitted) = admit(&desk, &request);
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let correlation = desk.touch(crate::hetzner::project::Project::random_hex);
    mark(response.headers_mut(), allowance, &correlation);
    response
}

fn admit(desk: &Desk, request: &Request) -> (Allowance, Result<(), Refusal>) {
    let now = desk.look(|project| project.clock.second());
    let mut limit = lock(&desk.rate_limit);
    let too_many = || {
        desk.effects.limited();
        Err(Code::RateLimitExceeded.because("limit of calls per hour reached"))
    };
    if let Some(reset) = desk.touch(|project| project.knobs.spend_throttle()) {
        return (limit.exhausted(now, reset), too_many());
    }
    match limit.take(now) {
        Err(allowance) => (allowance, too_many()),
        Ok(allowance) => (allowance, authorize(desk, request)),
    }
}

fn authorize(desk: &Desk, request: &Request) -> Result<(), Refusal> {
    let bearer = request.headers().get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
    let access = desk.look(|project| project.knobs.access);
    let known = bearer.and_then(|it| it.strip_prefix("Bearer ")) == Some(desk.token.as_str());
    if !known || access == Access::Nothing {
        return Err(Code::Unauthorized.because("unable to authenticate"));
    }
    if access == Access::ReadOnly && request.method() != Method::GET {
        return Err(Code::Forbidden.because("insufficient permissions for this request"));
    }
    Ok(())
}

fn mark(headers: &mut HeaderMap, allowance: Allowance, correlation: &str) {
    headers.insert("ratelimit-limit", allowance.limit.into());
    headers.insert("ratelimit-remaining", allowance.remaining.into());
    headers.insert("ratelimit-reset", allowance.reset.as_second().into());
    if let Ok(correlation) = HeaderValue::from_str(correlation) {
        headers.insert("x-correlation-id", correlation);
    }
}

/// Names a route without ids: `GET /servers/{id}`.
pub(super) fn route_of(request: &Request) -> String {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let path = matched.unwrap_or_else(|| request.uri().path());
    format!("{} {}", request.method(), without_version(path))
}
