//! What kind of request it is, in Kubernetes' words.

use std::fmt;

/// The verb and the resource of a request, such as `watch pods` or
/// `patch deployments.apps/scale`; for paths outside the resource API, the
/// method in lower case and the path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or
    /// `deletecollection`.
    pub verb: String,
    /// The resource with its group and subresource.
    pub resource: String,
}

impl Class {
    /// Reads the class off a request's line.
    pub fn of(method: &str, path: &str, query: &str) -> Self {
        let Some(target) = Target::of(path) else {
            return Self { verb: method.to_lowercase(), resource: path.to_owned() };
        };
        let verb = match (method, target.named) {
            ("GET" | "HEAD", _) if watches(query) => "watch",
            ("GET" | "HEAD", true) => "get",
            ("GET" | "HEAD", false) => "list",
            ("POST", _) => "create",
            ("PUT", _) => "update",
            ("PATCH", _) => "patch",
            ("DELETE", true) => "delete",
            ("DELETE", false) => "deletecollection",
            (other, _) => other,
        };
        Self { verb: verb.to_lowercase(), resource: target.resource }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)
    }
}

struct Target {
    resource: String,
    named: bool,
}

impl Target {
    fn of(path: &str) -> Option<Self> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        let group = match parts.next()? {
            "api" => None,
            "apis" => Some(parts.next()?),
            _ => return None,
        };
        let _version = parts.next()?;
        let rest: Vec<&str> = parts.collect();
        let rest = match rest.as_slice() {
            // `namespaces/NAME/status` and `/finalize` are the namespace's own.
            ["namespaces", _, own @ ("status" | "finalize")] => {
                return Some(Self { resource: format!("namespaces/{own}"), named: true });
            }
            ["namespaces", _, inside @ ..] if !inside.is_empty() => inside,
            all => all,
        };
        let mut resource = (*rest.first()?).to_owned();
        if let Some(group) = group {
            resource = format!("{resource}.{group}");
        }
        if let Some(subresource) = rest.get(2) {
            resource = format!("{resource}/{subresource}");
        }
        Some(Self { resource, named: rest.len() > 1 })
    }
}

fn watches(query: &str) -> bool {
    query.split('&').any(|pair| matches!(pair, "watch=true" | "watch=1" | "watch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_classed_as_kubernetes_does() {
        let cases = [
            ("GET /api/v1/pods", "list pods"),
            ("GET /api/v1/namespaces/a/pods?watch=true&x=1", "watch pods"),
            ("GET /api/v1/namespaces/a/pods/p", "get pods"),
            ("GET /api/v1/namespaces/a/pods/p/log", "get pods/log"),
            ("GET /api/v1/namespaces", "list namespaces"),
            ("GET /api/v1/namespaces/a", "get namespaces"),
            ("PUT /api/v1/namespaces/a/finalize", "update namespaces/finalize"),
            ("POST /api/v1/namespaces/a/configmaps", "create configmaps"),
            (
                "PATCH /apis/apps/v1/namespaces/a/deployments/d/scale",
                "patch deployments.apps/scale",
            ),
            ("DELETE /apis/apps/v1/namespaces/a/deployments/d", "delete deployments.apps"),
            ("DELETE /api/v1/namespaces/a/pods", "deletecollection pods"),
            (
                "GET /apis/rbac.authorization.k8s.io/v1/clusterroles",
                "list clusterroles.rbac.authorization.k8s.io",
            ),
            ("GET /readyz", "get /readyz"),
            ("GET /api/v1", "get /api/v1"),
            ("GET /apis/apps/v1", "get /apis/apps/v1"),
        ];
        for (request, class) in cases {
            let (method, target) = request.split_once(' ').unwrap();
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            assert_eq!(Class::of(method, path, query).to_string(), class, "{request}");
        }
    }
}
