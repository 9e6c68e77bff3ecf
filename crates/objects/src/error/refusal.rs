//! Answers that say no: from the API's `Status` to the kind of trouble.

use std::time::Duration;

use kube::core::Status;
use kube::core::response::StatusCause;

use super::{FieldConflict, FieldProblem, Immutable, Right, Trouble, told};

/// What stands in a no of admission that is about rights all the same.
const RIGHTS: [&str; 2] = ["attempting to grant", "you can't"];

impl Trouble {
    /// Reads an answer with an HTTP status from 400 on.
    pub(crate) fn of(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        match serde_json::from_slice::<Status>(body) {
            Ok(status) if !status.message.is_empty() || !status.reason.is_empty() => {
                Self::of_status(code, retry_after, &status)
            }
            _ => Self::of_status(code, retry_after, &unstructured(code, body)),
        }
    }

    /// Reads a `Status`, as it also stands in a watch.
    pub(crate) fn of_status(code: u16, retry_after: Option<Duration>, status: &Status) -> Self {
        let message = || status.message.clone();
        let after = retry_after.or_else(|| asked_pause(status));
        match code {
            429 => Self::Throttled(after),
            400 if no_dry_run(&status.message).is_some() => {
                Self::NoDryRun { webhook: no_dry_run(&status.message).unwrap_or_default() }
            }
            // A webhook and a policy choose the code of their no.
            400..=499 if is_denied(&status.message) => Self::Denied(message()),
            401 => Self::Unauthenticated,
            403 => forbidden(status),
            404 => not_found(status),
            409 if status.reason == "AlreadyExists" => Self::AlreadyExists,
            409 => conflict(status),
            410 => Self::Expired,
            413 => Self::TooLarge,
            // A server-side apply with the uid of an earlier life.
            422 if causes(status).iter().any(|cause| cause.field == "metadata.uid") => {
                Self::Changed("another object has this name now".to_owned())
            }
            422 => invalid(problems(status)),
            400 if told::is_strict_decoding(&status.message) => Self::Invalid(problems(status)),
            // The typed patch of a server-side apply, and etcd's limit, come as
            // internal errors, which repeating does not cure.
            500 if told::is_about_fields(&status.message) => Self::Invalid(problems(status)),
            500 if status.message.contains("request is too large") => Self::TooLarge,
            408 | 500..=599 => Self::Unavailable { code, message: message(), after },
            _ => Self::Refused { code, message: message() },
        }
    }
}

/// A path that nobody serves is answered in plain text.
fn unstructured(code: u16, body: &[u8]) -> Status {
    let text = String::from_utf8_lossy(body);
    let line = text.trim().lines().next().unwrap_or_default();
    let line: String = line.chars().take(200).collect();
    let message = if line.is_empty() { "the API said no more".to_owned() } else { line };
    Status { code, message, ..Status::default() }
}

fn forbidden(status: &Status) -> Trouble {
    let name = || details_name(status);
    if causes(status).iter().any(|cause| cause.reason == "NamespaceTerminating") {
        return Trouble::NamespaceTerminating(terminating_namespace(status).unwrap_or_else(name));
    }
    if is_of_admission(&status.message) {
        return Trouble::Denied(status.message.clone());
    }
    Trouble::Forbidden(status.message.clone())
}

/// Quotas, ranges, priorities and policies say `pods "a" is forbidden: …` just
/// as authorization does. The API has no structured way to tell them apart, but
/// only authorization says who may not do what.
fn is_of_admission(message: &str) -> bool {
    let rights = Right::told(message).is_some() || RIGHTS.iter().any(|it| message.contains(it));
    let admission = ["is forbidden: ", "admission webhook"].iter().any(|it| message.contains(it));
    admission && !rights
}

fn terminating_namespace(status: &Status) -> Option<String> {
    let cause = causes(status).iter().find(|cause| cause.reason == "NamespaceTerminating")?;
    // `namespace app is being terminated`
    cause.message.split_whitespace().nth(1).map(str::to_owned)
}

fn not_found(status: &Status) -> Trouble {
    let details = status.details.as_ref();
    match details {
        Some(details) if details.kind == "namespaces" && !details.name.is_empty() => {
            Trouble::NamespaceMissing(details.name.clone())
        }
        Some(details) if !details.name.is_empty() => Trouble::Absent,
        // Without a name it is not about an object, but about the path.
        _ => Trouble::KindMissing { kind: "such kind".to_owned(), stale: Vec::new(), slip: None },
    }
}

fn conflict(status: &Status) -> Trouble {
    let fields: Vec<FieldConflict> = causes(status)
        .iter()
        .filter(|cause| cause.reason == "FieldManagerConflict")
        .map(|cause| FieldConflict::of(&cause.message, &cause.field))
        .collect();
    if fields.is_empty() {
        return Trouble::Changed(status.message.clone());
    }
    Trouble::Ownership(fields)
}

fn problems(status: &Status) -> Vec<FieldProblem> {
    let of = |cause: &StatusCause| FieldProblem::of(&cause.field, &cause.reason, &cause.message);
    let found: Vec<FieldProblem> = causes(status).iter().map(of).collect();
    if found.is_empty() { told::problems(&status.message) } else { found }
}

fn invalid(problems: Vec<FieldProblem>) -> Trouble {
    match Immutable::among(&problems) {
        Some(immutable) => Trouble::Immutable(Box::new(immutable)),
        None => Trouble::Invalid(problems),
    }
}

/// Returns the webhook of `admission webhook "x" does not support dry run`.
fn no_dry_run(message: &str) -> Option<String> {
    let webhook = message.strip_suffix(" does not support dry run")?;
    webhook.split('"').nth(1).map(str::to_owned)
}

fn is_denied(message: &str) -> bool {
    let by = |who: &str, does: &str| message.contains(who) && message.contains(does);
    by("admission webhook", "denied the request")
        || by("ValidatingAdmissionPolicy '", "denied request")
}

fn causes(status: &Status) -> &[StatusCause] {
    status.details.as_ref().map_or(&[], |details| details.causes.as_slice())
}

fn details_name(status: &Status) -> String {
    status.details.as_ref().map(|details| details.name.clone()).unwrap_or_default()
}

fn asked_pause(status: &Status) -> Option<Duration> {
    let seconds = u64::from(status.details.as_ref()?.retry_after_seconds);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shown(code: u16, status: &Value) -> String {
        Trouble::of(code, None, status.to_string().as_bytes()).to_string()
    }

    #[test]
    fn causes_are_read_and_the_message_is_not() {
        let cause = |field: &str, manager: &str| {
            json!({ "reason": "FieldManagerConflict", "field": field,
                "message": format!("conflict with \"{manager}\" using apps/v1") })
        };
        let conflict = json!({ "kind": "Status", "code": 409, "reason": "Conflict",
            "message": "Apply failed with 2 conflicts: …", "details": { "causes": [
                cause(".spec.replicas", "kube-controller-manager"),
                cause(r#".spec.template.spec.containers[name="app"].image"#, "kubectl"),
            ] } });
        assert_eq!(
            shown(409, &conflict),
            "`spec.replicas` belongs to kube-controller-manager, \
             `spec.template.spec.containers[name=\"app\"].image` belongs to kubectl"
        );
        let changed = json!({ "reason": "Conflict", "message": "the object has been modified" });
        assert_eq!(shown(409, &changed), "the object has been modified");
        let exists = json!({ "reason": "AlreadyExists", "message": "x already exists" });
        assert_eq!(shown(409, &exists), "it is there already");
    }

    #[test]
    fn internal_errors_that_are_mistakes_of_ours_are_told_apart() {
        let unknown = json!({ "reason": "InternalError", "message": "failed to create typed patch \
            object (a/s; /v1, Kind=Service): .spec.prots: field not declared in schema" });
        assert_eq!(shown(500, &unknown), "`spec.prots`: field not declared in schema");
        let other = json!({ "reason": "InternalError", "message": "failed to create typed patch \
            object (a/s; /v1, Kind=Secret): .data: expected map, got &{x: y}" });
        assert_eq!(shown(500, &other), "`data`: expected map, got &{x: y}");
        let large = json!({ "message": "etcdserver: request is too large" });
        assert_eq!(Trouble::of(500, None, large.to_string().as_bytes()), Trouble::TooLarge);
        let leader = json!({ "message": "etcdserver: leader changed" });
        assert_eq!(shown(500, &leader), "etcdserver: leader changed (500)");
    }

    #[test]
    fn a_webhook_says_no_with_any_code() {
        let no = json!({ "message": "admission webhook \"x\" denied the request: no" });
        for code in [400, 403, 409, 422] {
            let trouble = Trouble::of(code, None, no.to_string().as_bytes());
            assert!(matches!(trouble, Trouble::Denied(_)), "{code}: {trouble:?}");
        }
        let later = Trouble::of(429, None, no.to_string().as_bytes());
        assert_eq!(later, Trouble::Throttled(None));
    }

    #[test]
    fn authorization_and_admission_are_told_apart() {
        let rights = [
            r#"pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "n""#,
            r#"forbidden: User "system:anonymous" cannot get path "/metrics""#,
            r#"roles "r" is forbidden: user "u" (groups=["g"]) is attempting to grant RBAC permissions not currently held"#,
            r#"pods "a" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>"#,
            "no",
        ];
        let policies = [
            r#"pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"#,
            r#"pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app"#,
            r#"pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2"#,
            r#"pods "a" is forbidden: no PriorityClass with name none was found"#,
            r#"pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged"#,
        ];
        let trouble = |message: &str| {
            let status = json!({ "reason": "Forbidden", "message": message });
            Trouble::of(403, None, status.to_string().as_bytes())
        };
        for message in rights {
            assert_eq!(trouble(message), Trouble::Forbidden(message.to_owned()));
        }
        for message in policies {
            assert_eq!(trouble(message), Trouble::Denied(message.to_owned()));
        }
    }

    #[test]
    fn a_webhook_without_dry_runs_is_named() {
        let no = json!({ "reason": "BadRequest",
            "message": "admission webhook \"x.example.test\" does not support dry run" });
        let told = "it cannot be tried out, because webhook x.example.test takes no dry runs";
        assert_eq!(shown(400, &no), told);
    }

    #[test]
    fn what_is_missing_is_the_object_the_namespace_or_the_kind() {
        let missing = |kind: &str, name: &str| {
            let status = json!({ "reason": "NotFound", "message": "not found",
                "details": { "kind": kind, "name": name } });
            Trouble::of(404, None, status.to_string().as_bytes())
        };
        assert_eq!(missing("configmaps", "a"), Trouble::Absent);
        assert_eq!(missing("namespaces", "a"), Trouble::NamespaceMissing("a".to_owned()));
        let plain = Trouble::of(404, None, b"404 page not found\n");
        assert!(matches!(plain, Trouble::KindMissing { .. }), "{plain:?}");
    }

    #[test]
    fn pauses_come_from_the_header_or_the_body() {
        let body = json!({ "message": "slow down", "details": { "retryAfterSeconds": 3 } });
        let body = body.to_string();
        let trouble = Trouble::of(429, None, body.as_bytes());
        assert_eq!(trouble, Trouble::Throttled(Some(Duration::from_secs(3))));
        let header = Some(Duration::from_secs(9));
        let trouble = Trouble::of(503, header, body.as_bytes());
        assert!(matches!(trouble, Trouble::Unavailable { after, .. } if after == header));
    }

    #[test]
    fn answers_of_others_are_kept_short() {
        let page = format!("<html>{}</html>", "x".repeat(5000));
        let Trouble::Unavailable { message, .. } = Trouble::of(502, None, page.as_bytes()) else {
            panic!("a gateway's answer");
        };
        assert_eq!(message.chars().count(), 200);
        assert_eq!(Trouble::of(418, None, b"").to_string(), "the API said no more (418)");
    }
}
