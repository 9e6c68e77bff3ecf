//! Parts of objects that have paths and rules of their own.

use serde_json::{Value, json};

use super::{DeleteOptions, Deleted, Place, Preconditions, State, Write};
use crate::kube::merge::{Operation, merge_patch};
use crate::kube::object::{self, items};
use crate::kube::refusal::Refusal;
use crate::kube::resource::Key;
use crate::kube::selector::LabelSelector;

const BUDGETS: Key = Key::new("policy", "poddisruptionbudgets");

/// Where a kind keeps its numbers of replicas, and its selector.
struct ScalePaths {
    wanted: String,
    actual: String,
    selector: Option<String>,
}

impl State {
    /// Returns how many replicas an object has and should have.
    pub(crate) fn scale(&self, place: &Place) -> Result<Value, Refusal> {
        let object = self.get(place)?;
        let paths = ScalePaths::of(place)?;
        let number = |path: &str| object.pointer(path).cloned().unwrap_or(json!(0));
        let mut scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {
                "name": place.name, "namespace": place.namespace, "uid": object::uid(&object),
                "resourceVersion": object["metadata"]["resourceVersion"],
                "creationTimestamp": object["metadata"]["creationTimestamp"],
            },
            "spec": { "replicas": number(&paths.wanted) },
            "status": { "replicas": number(&paths.actual) },
        });
        scale["status"]["selector"] = match paths.selector {
            Some(path) => object.pointer(&path).cloned().unwrap_or_default(),
            None => json!(selector_text(&object["spec"]["selector"])),
        };
        Ok(scale)
    }

    /// Sets how many replicas an object should have.
    pub(crate) fn set_scale(
        &mut self,
        place: &Place,
        scale: &Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let paths = ScalePaths::of(place)?;
        let current = self.get(place)?;
        let version = object::meta(scale, "resourceVersion");
        if !version.is_empty() && version != object::meta(&current, "resourceVersion") {
            return Err(Refusal::modified(&place.resource.key, &place.name));
        }
        let whole = Place { subresource: String::new(), ..place.clone() };
        let mut wanted = (*current).clone();
        let path: Vec<&str> = paths.wanted.split('/').skip(1).collect();
        let replicas = scale["spec"]["replicas"].clone();
        let part = path.iter().rev().fold(replicas, |inner, field| json!({ *field: inner }));
        merge_patch(&mut wanted, &part);
        let after = self.settled(&whole, &current, wanted, write)?;
        self.finish_update(place, &current, after, write, Operation::Update);
        self.scale(place)
    }

    /// Puts a pod on a node.
    pub(crate) fn bind(
        &mut self,
        place: &Place,
        binding: &Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let current = self.get(place)?;
        if let Some(node) = current["spec"]["nodeName"].as_str() {
            let why = format!("pod {} is already assigned to node \"{node}\"", place.name);
            return Err(Refusal::conflict(&Key::core("pods/binding"), &place.name, &why));
        }
        let mut after = (*current).clone();
        after["spec"]["nodeName"] = binding["target"]["name"].clone();
        let (now, generation) = (self.clock.stamp(), after["metadata"]["generation"].clone());
        let condition = json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null,
            "lastTransitionTime": now, "observedGeneration": generation,
        });
        set_condition(&mut after, condition);
        self.finish_update(place, &current, after, write, Operation::Update);
        Ok(
            json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 }),
        )
    }

    /// Ends a pod, unless a budget says that it is needed.
    pub(crate) fn evict(
        &mut self,
        place: &Place,
        eviction: &Value,
        write: &Write,
    ) -> Result<Value, Refusal> {
        let pod = self.get(place)?;
        let guards = |budget: &Value| {
            object::namespace(budget) == place.namespace
                && LabelSelector::of(&budget["spec"]["selector"])
                    .matches(&pod["metadata"]["labels"])
                && budget["status"]["disruptionsAllowed"].as_u64().unwrap_or_default() == 0
        };
        if self.store.all(&BUDGETS).any(|budget| guards(budget)) {
            return Err(Refusal::too_many_requests(
                "Cannot evict pod as it would violate the pod's disruption budget.",
            ));
        }
        let options = &eviction["deleteOptions"];
        let uid = options["preconditions"]["uid"].as_str().map(str::to_owned);
        let options = DeleteOptions {
            grace: options["gracePeriodSeconds"].as_u64(),
            preconditions: Preconditions { uid, resource_version: None },
            ..DeleteOptions::default()
        };
        let whole = Place { subresource: String::new(), ..place.clone() };
        let (Deleted::Gone(_) | Deleted::Ending(_)) = self.delete(&whole, &options, write)?;
        Ok(
            json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201 }),
        )
    }
}

impl ScalePaths {
    fn of(place: &Place) -> Result<Self, Refusal> {
        let pointer = |path: &Value| path.as_str().map(|path| path.replace('.', "/"));
        if !place.resource.custom {
            let wanted = "/spec/replicas".to_owned();
            return Ok(Self { wanted, actual: "/status/replicas".to_owned(), selector: None });
        }
        let version = place.resource.version(&place.version);
        let scale = version.and_then(|version| version.scale.as_ref());
        let scale = scale.ok_or_else(Refusal::no_such_path)?;
        Ok(Self {
            wanted: pointer(&scale["specReplicasPath"]).unwrap_or_default(),
            actual: pointer(&scale["statusReplicasPath"]).unwrap_or_default(),
            selector: Some(pointer(&scale["labelSelectorPath"]).unwrap_or_default()),
        })
    }
}

/// Sets a condition. Where it says nothing new it keeps its times, and where
/// only its status is the same, the time of its last change.
pub(crate) fn set_condition(object: &mut Value, mut condition: Value) {
    let status = object::map_at(object, "status");
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    // Whoever has looked for a condition that was not there has left a null.
    if conditions.is_null() {
        *conditions = json!([]);
    }
    let Some(list) = conditions.as_array_mut() else { return };
    let Some(old) = list.iter_mut().find(|one| one["type"] == condition["type"]) else {
        return list.push(condition);
    };
    let said = ["status", "reason", "message", "observedGeneration"];
    if said.iter().all(|field| old[*field] == condition[*field]) {
        return;
    }
    if old["status"] == condition["status"] {
        condition["lastTransitionTime"] = old["lastTransitionTime"].clone();
    }
    *old = condition;
}

fn selector_text(selector: &Value) -> String {
    let equal =
        object::pairs(&selector["matchLabels"]).map(|(key, value)| format!("{key}={value}"));
    let sets = items(&selector["matchExpressions"]).iter().map(|one| {
        let key = one["key"].as_str().unwrap_or_default();
        let values = object::texts(&one["values"]).join(",");
        match one["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        }
    });
    equal.chain(sets).collect::<Vec<_>>().join(",")
}
