//! An object of the API, and what makes it that object.

use std::fmt;

use serde_json::{Map, Value};

/// Group, version and kind, such as `apps`, `v1`, `Deployment`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind {
    /// The group; empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

/// Which object is meant. It says nothing about which life of it: that is its uid.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// What it is.
    pub kind: Kind,
    /// Where it is, unless it is of the whole cluster or nobody has said.
    pub namespace: Option<String>,
    /// What it is called.
    pub name: String,
}

/// An object with its typed identity. Identity and body always agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    id: ObjectId,
    body: Value,
    /// The uid of the only life that is meant, where somebody knows it.
    life: Option<Box<str>>,
}

/// Which life and which state of an object was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The uid: one life of the object.
    pub uid: String,
    /// The resource version: one state of it.
    pub resource_version: String,
}

/// Why a value is not an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnObject {
    /// It is a list, a text or a number.
    #[error("it is not a mapping")]
    NotAMapping,
    /// A field that every object has is missing, empty or of another type.
    #[error("`{0}` is missing or not a text")]
    Missing(&'static str),
    /// The `apiVersion` has more than one slash.
    #[error("`{0}` is not an apiVersion such as `v1` or `apps/v1`")]
    ApiVersion(String),
    /// Labels or annotations are no mapping.
    #[error("`{0}` is not a mapping")]
    Marks(&'static str),
    /// The name would lead somewhere else where the API looks for it.
    #[error("`{0}` is not a name: it may not be `.` or `..`, nor hold `/` or `%`")]
    Name(String),
}

// === impl Kind ===

impl Kind {
    /// A kind of an `apiVersion`.
    pub fn new(api_version: &str, kind: impl Into<String>) -> Result<Self, NotAnObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        if version.is_empty() || version.contains('/') {
            return Err(NotAnObject::ApiVersion(api_version.to_owned()));
        }
        Ok(Self { group: group.to_owned(), version: version.to_owned(), kind: kind.into() })
    }

    /// Returns group and version as objects carry them.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// Returns whether it is this kind of this group, in whichever version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// An object of this kind.
    pub fn named(&self, namespace: Option<&str>, name: impl Into<String>) -> ObjectId {
        ObjectId { kind: self.clone(), namespace: namespace.map(str::to_owned), name: name.into() }
    }
}

impl fmt::Display for Kind {
    /// As in kubectl's `deployment.apps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.to_lowercase())?;
        if self.group.is_empty() { Ok(()) } else { write!(f, ".{}", self.group) }
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)?;
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

// === impl Object ===

impl Object {
    /// Reads the identity off a body.
    pub fn new(body: Value) -> Result<Self, NotAnObject> {
        let map = body.as_object().ok_or(NotAnObject::NotAMapping)?;
        let kind = Kind::new(text(map, "apiVersion")?, text(map, "kind")?)?;
        let metadata = map.get("metadata").and_then(Value::as_object);
        let metadata = metadata.ok_or(NotAnObject::Missing("metadata"))?;
        let name = text(metadata, "name").map_err(|_| NotAnObject::Missing("metadata.name"))?;
        let leads_elsewhere = |name: &str| matches!(name, "." | "..") || name.contains(['/', '%']);
        if leads_elsewhere(name) {
            return Err(NotAnObject::Name(name.to_owned()));
        }
        let namespace = match metadata.get("namespace") {
            None | Some(Value::Null) => None,
            Some(Value::String(namespace)) if leads_elsewhere(namespace) => {
                return Err(NotAnObject::Name(namespace.clone()));
            }
            Some(Value::String(namespace)) => Some(namespace.clone()).filter(|n| !n.is_empty()),
            Some(_) => return Err(NotAnObject::Missing("metadata.namespace")),
        };
        for (marks, place) in
            [("labels", "metadata.labels"), ("annotations", "metadata.annotations")]
        {
            if metadata.get(marks).is_some_and(|marks| !marks.is_object() && !marks.is_null()) {
                return Err(NotAnObject::Marks(place));
            }
        }
        let id = ObjectId { kind, namespace, name: name.to_owned() };
        Ok(Self { id, body, life: None })
    }

    /// Reads an item of a list, which says neither its kind nor its version.
    pub(crate) fn of_kind(kind: &Kind, mut body: Value) -> Result<Self, NotAnObject> {
        let map = body.as_object_mut().ok_or(NotAnObject::NotAMapping)?;
        map.insert("apiVersion".to_owned(), kind.api_version().into());
        map.insert("kind".to_owned(), kind.kind.clone().into());
        Self::new(body)
    }

    /// Puts the object into a namespace, where it does not say one itself.
    #[must_use]
    pub fn or_in(mut self, namespace: &str) -> Self {
        if self.id.namespace.is_none() {
            self.id.namespace = Some(namespace.to_owned());
            self.body["metadata"]["namespace"] = namespace.into();
        }
        self
    }

    /// Means only the life with this uid, which whoever applied the object has
    /// remembered: an object that somebody has made anew under the same name is
    /// not touched, and one that is gone is not brought back.
    #[must_use]
    pub fn of_life(mut self, uid: &str) -> Self {
        self.life = Some(uid.into());
        self
    }

    /// Returns the uid of the only life that is meant, where somebody knows it.
    pub fn life(&self) -> Option<&str> {
        self.life.as_deref()
    }

    /// Takes the object out of its namespace: its kind is of the whole cluster.
    pub(crate) fn in_no_namespace(mut self) -> Self {
        if let (Some(_), Some(metadata)) =
            (self.id.namespace.take(), self.body["metadata"].as_object_mut())
        {
            metadata.remove("namespace");
        }
        self
    }

    /// Sets a label.
    pub(crate) fn labelled(mut self, key: &str, value: &str) -> Self {
        self.body["metadata"]["labels"][key] = value.into();
        self
    }

    /// Returns the label or annotation of that name; `which` is the map.
    pub(crate) fn mark(&self, which: &str, key: &str) -> Option<&str> {
        self.body["metadata"][which].get(key)?.as_str()
    }

    /// Returns which object it is.
    pub fn id(&self) -> &ObjectId {
        &self.id
    }

    /// Returns what it is.
    pub fn kind(&self) -> &Kind {
        &self.id.kind
    }

    /// Returns the whole object.
    pub fn body(&self) -> &Value {
        &self.body
    }

    /// Returns the whole object, for good.
    pub fn into_body(self) -> Value {
        self.body
    }

    /// The same object in another state.
    pub(crate) fn with_body(&self, body: Value) -> Self {
        Self { id: self.id.clone(), body, life: self.life.clone() }
    }

    /// Returns its life and its state, where the API has given it both.
    pub fn version(&self) -> Option<Version> {
        let resource_version = self.text("/metadata/resourceVersion")?.to_owned();
        Some(Version { uid: self.uid()?.to_owned(), resource_version })
    }

    /// Returns its uid, where the API has given it one.
    pub fn uid(&self) -> Option<&str> {
        self.text("/metadata/uid")
    }

    /// Returns the value at a JSON pointer.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.body.pointer(pointer)
    }

    /// Returns the text at a JSON pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.at(pointer)?.as_str()
    }

    /// Returns the items of the list at a JSON pointer; none where there is no list.
    pub fn items(&self, pointer: &str) -> &[Value] {
        self.at(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the finalizers that keep it.
    pub fn finalizers(&self) -> Vec<&str> {
        self.items("/metadata/finalizers").iter().filter_map(Value::as_str).collect()
    }

    /// Returns whether the object with this uid owns it.
    pub fn is_owned_by(&self, uid: &str) -> bool {
        self.items("/metadata/ownerReferences").iter().any(|owner| owner["uid"] == uid)
    }
}

fn text<'a>(map: &'a Map<String, Value>, key: &'static str) -> Result<&'a str, NotAnObject> {
    let text = map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.ok_or(NotAnObject::Missing(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn identity_is_read_and_shown() {
        let body = json!({ "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "web", "namespace": "app" } });
        let object = Object::new(body).unwrap();
        assert_eq!(object.id().to_string(), "deployment.apps/web in namespace app");
        assert!(object.kind().is("apps", "Deployment"));
        assert_eq!(object.kind().api_version(), "apps/v1");
        let node = Kind::new("v1", "Node").unwrap().named(None, "demo-cp-1");
        assert_eq!(node.to_string(), "node/demo-cp-1");
    }

    #[test]
    fn a_namespace_is_only_added_where_there_is_none() {
        let map = |namespace: Value| {
            Object::new(json!({ "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": "a", "namespace": namespace } }))
        };
        let added = map(Value::Null).unwrap().or_in("app");
        assert_eq!(added.id().namespace.as_deref(), Some("app"));
        assert_eq!(added.text("/metadata/namespace"), Some("app"));
        let kept = map("own".into()).unwrap().or_in("app");
        assert_eq!(kept.id().namespace.as_deref(), Some("own"));
        assert_eq!(map(7.into()), Err(NotAnObject::Missing("metadata.namespace")));
    }

    fn marked(marks: &str, value: &Value) -> Value {
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "a", marks: value } })
    }

    #[test]
    fn an_object_without_labels_takes_one() {
        let plain = Object::new(marked("labels", &Value::Null)).unwrap().labelled("a", "b");
        assert_eq!(plain.mark("labels", "a"), Some("b"));
    }

    #[test]
    fn what_is_no_object_is_refused_by_name() {
        let cases = [
            (json!([]), "it is not a mapping"),
            (json!({ "kind": "Pod" }), "`apiVersion` is missing or not a text"),
            (json!({ "apiVersion": "v1", "kind": 3 }), "`kind` is missing or not a text"),
            (
                json!({ "apiVersion": "a/b/c", "kind": "Pod" }),
                "`a/b/c` is not an apiVersion such as `v1` or `apps/v1`",
            ),
            (json!({ "apiVersion": "v1", "kind": "Pod" }), "`metadata` is missing or not a text"),
            (
                json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "" } }),
                "`metadata.name` is missing or not a text",
            ),
            (marked("labels", &json!([])), "`metadata.labels` is not a mapping"),
            (marked("labels", &json!("x")), "`metadata.labels` is not a mapping"),
            (marked("annotations", &json!(7)), "`metadata.annotations` is not a mapping"),
        ];
        for (body, message) in cases {
            assert_eq!(Object::new(body).unwrap_err().to_string(), message);
        }
    }
}
