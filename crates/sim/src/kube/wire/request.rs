//! A request, read.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, header};
use serde_json::Value;

use crate::kube::PodRequest;
use crate::kube::api::{
    DeleteOptions, ListOptions, Patch, Place, Preconditions, Propagation, Strictness, WatchOptions,
    Write,
};
use crate::kube::refusal::Refusal;
use crate::kube::selector::Selector;

const PATCHES: &[&str] = &[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

/// A request with its body.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) path: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
}

impl Request {
    /// Takes a request apart.
    pub(super) fn new(parts: Parts, body: Bytes) -> Self {
        let query = pairs(parts.uri.query().unwrap_or_default());
        let path = decoded(parts.uri.path());
        Self { method: parts.method, path, query, headers: parts.headers, body }
    }

    /// Returns a parameter of the query; empty where it is absent.
    pub(super) fn query(&self, name: &str) -> &str {
        let found = self.query.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Says whether a parameter of the query is there and true.
    pub(super) fn flag(&self, name: &str) -> bool {
        let found = self.query.iter().find(|(one, _)| one == name);
        found.is_some_and(|(_, value)| ["", "1", "true"].contains(&value.as_str()))
    }

    /// Returns the request that goes on to whatever is behind a proxy.
    pub(super) fn passed_on(&self) -> PodRequest {
        // `/api/v1/namespaces/NS/KIND/NAME/proxy/PATH`
        let path = self.path.splitn(9, '/').nth(8).unwrap_or_default();
        PodRequest { path: format!("/{path}"), query: self.query.clone() }
    }

    /// Returns a header; empty where it is absent or not text.
    pub(super) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Says whether the caller takes a document in another form, such as `Table`.
    pub(super) fn accepts(&self, form: &str) -> bool {
        let wanted = format!("as={form}");
        // The forms are in the order of the caller's liking; the first one counts.
        let first = self.header(header::ACCEPT).split(',').next().unwrap_or_default();
        first.split(';').any(|part| part.trim() == wanted)
    }

    /// Says whether the caller follows objects instead of listing them.
    pub(super) fn watches(&self) -> bool {
        self.flag("watch") && self.method == Method::GET
    }

    /// Reads the body, JSON or YAML.
    pub(super) fn document(&self) -> Result<Value, Refusal> {
        let kind = self.header(header::CONTENT_TYPE);
        let kind = kind.split(';').next().unwrap_or_default();
        match kind {
            "" | "application/json" => read_json(&self.body),
            "application/yaml" => read_yaml(&self.body),
            // Some of kubectl's commands, such as `create deployment`, send it.
            "application/vnd.kubernetes.protobuf" => Err(Refusal::protobuf()),
            _ => Err(Refusal::unsupported_media_type(&["application/json", "application/yaml"])),
        }
    }

    /// Reads the body as a patch.
    pub(super) fn patch(&self, place: &Place) -> Result<Patch, Refusal> {
        let kind = self.header(header::CONTENT_TYPE);
        match kind.split(';').next().unwrap_or_default() {
            "application/json-patch+json" => Ok(Patch::Json(read_json(&self.body)?)),
            "application/merge-patch+json" => Ok(Patch::Merge(read_json(&self.body)?)),
            "application/strategic-merge-patch+json" if !place.resource.custom => {
                Ok(Patch::Strategic(read_json(&self.body)?))
            }
            "application/apply-patch+yaml" => Ok(Patch::Apply(read_yaml(&self.body)?)),
            _ => {
                let strategic = PATCHES[2];
                let taken: Vec<&str> = PATCHES
                    .iter()
                    .copied()
                    .filter(|kind| !place.resource.custom || *kind != strategic)
                    .collect();
                Err(Refusal::unsupported_media_type(&taken))
            }
        }
    }

    /// Reads how a write is meant.
    pub(super) fn write(&self) -> Result<Write, Refusal> {
        let dry_run = match self.query("dryRun") {
            "" => false,
            "All" => true,
            other => {
                let message = format!("Unsupported value: \"{other}\": supported values: \"All\"");
                return Err(Refusal::bad_request(message));
            }
        };
        let agent = self.header(header::USER_AGENT).split('/').next().unwrap_or_default();
        let manager = match self.query("fieldManager") {
            "" if agent.is_empty() => "unknown",
            "" => agent,
            named => named,
        };
        let strictness = match self.query("fieldValidation") {
            "Strict" => Strictness::Strict,
            _ => Strictness::Lenient,
        };
        Ok(Write { manager: manager.to_owned(), dry_run, force: self.flag("force"), strictness })
    }

    fn selector(&self, place: &Place) -> Result<Selector, Refusal> {
        let mut selector = Selector::parse(
            self.query("labelSelector"),
            self.query("fieldSelector"),
            place.resource.custom,
        )?;
        if !place.name.is_empty() {
            let only = format!("metadata.name={}", place.name);
            selector.fields = crate::kube::selector::FieldSelector::parse(&only, false)?;
        }
        Ok(selector)
    }

    /// Reads which objects to list.
    pub(super) fn list_options(&self, place: &Place) -> Result<ListOptions, Refusal> {
        Ok(ListOptions {
            selector: self.selector(place)?,
            limit: self.query("limit").parse().unwrap_or_default(),
            proceed: self.query("continue").to_owned(),
            resource_version: self.query("resourceVersion").to_owned(),
            version_match: self.query("resourceVersionMatch").to_owned(),
        })
    }

    /// Reads which objects to follow.
    pub(super) fn watch_options(&self, place: &Place) -> Result<WatchOptions, Refusal> {
        Ok(WatchOptions {
            selector: self.selector(place)?,
            resource_version: self.query("resourceVersion").to_owned(),
            bookmarks: self.flag("allowWatchBookmarks"),
            initial_events: self.flag("sendInitialEvents"),
        })
    }

    /// Reads how an object is to end: from the body, then from the query.
    pub(super) fn delete_options(&self) -> Result<(DeleteOptions, bool), Refusal> {
        let body = if self.body.is_empty() { Value::Null } else { self.document()? };
        let text = |field: &str| {
            body[field].as_str().map_or_else(|| self.query(field).to_owned(), str::to_owned)
        };
        let propagation = match text("propagationPolicy").as_str() {
            "Foreground" => Some(Propagation::Foreground),
            "Orphan" => Some(Propagation::Orphan),
            "Background" => Some(Propagation::Background),
            _ => None,
        };
        let given = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
        let grace = body["gracePeriodSeconds"].as_u64();
        let options = DeleteOptions {
            propagation,
            grace: grace.or_else(|| self.query("gracePeriodSeconds").parse().ok()),
            preconditions: Preconditions {
                uid: given("uid"),
                resource_version: given("resourceVersion"),
            },
        };
        let dry_run = body["dryRun"].as_array().is_some_and(|list| !list.is_empty());
        Ok((options, dry_run))
    }
}

/// Reads the parameters of a query.
pub(crate) fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    });
    pairs.collect()
}

fn read_json(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body)
        .map_err(|error| Refusal::bad_request(format!("couldn't get/parse the body: {error}")))
}

fn read_yaml(body: &[u8]) -> Result<Value, Refusal> {
    // JSON is YAML, and is what most clients send under either name.
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text = std::str::from_utf8(body);
    let text = text.map_err(|_| Refusal::bad_request("the body of the request is not UTF-8"))?;
    serde_saphyr::from_str(text)
        .map_err(|error| Refusal::bad_request(format!("error decoding YAML: {error}")))
}

/// Decodes a part of a URL.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = hex.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(content_type: &str, body: &'static str) -> Result<Value, Refusal> {
        let request = http::Request::post("/api/v1/nodes").header("content-type", content_type);
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Request::new(parts, Bytes::from_static(body.as_bytes())).document()
    }

    #[test]
    fn protobuf_is_refused_with_the_setting_that_sends_json() {
        let refusal = sent("application/vnd.kubernetes.protobuf", "k8s\0").unwrap_err();
        let body = refusal.body();
        assert_eq!((&body["code"], &body["reason"]), (&415.into(), &"UnsupportedMediaType".into()));
        let message = body["message"].as_str().unwrap();
        assert!(message.contains("--kube-api-content-type=application/json"), "{message}");
        assert!(sent("application/json; charset=utf-8", "{}").is_ok());
    }
}
