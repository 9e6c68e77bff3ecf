//! Whether an object is what a goal wants, at one moment.

use serde_json::Value;

use super::value_test::scalar;
use super::{Goal, ValueTest, nearest};
use crate::status::Facts;
use crate::{Claims, JsonPath, Object, Status};

/// What one look at an object tells about a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Met,
    NotYet(String),
    /// It says nothing by which to tell.
    Untold(String),
}

impl Goal {
    /// Judges an object that is there.
    pub(crate) fn judge(&self, object: &Object, claims: Claims) -> Judgement {
        match self {
            Self::Created => Judgement::Met,
            Self::Deleted => Judgement::NotYet(still_there(object)),
            Self::Ready | Self::Rollout => match Status::with(object, claims) {
                Status::Ready => Judgement::Met,
                Status::Unknown { because } => Judgement::Untold(because),
                Status::InProgress { because }
                | Status::Failed { because }
                | Status::Terminating { because } => Judgement::NotYet(because),
            },
            Self::Condition { name, status } => condition(object, name, status),
            Self::Field { path, test } => field(object, path, test),
        }
    }
}

fn still_there(object: &Object) -> String {
    match Status::of(object) {
        Status::Terminating { because } => because,
        _ => "it is there, and nobody has deleted it".to_owned(),
    }
}

fn condition(object: &Object, name: &str, status: &str) -> Judgement {
    let facts = Facts(object);
    if let Some((observed, generation)) = facts.lag() {
        let seen = format!("its controller has seen generation {observed} of {generation}");
        return Judgement::NotYet(seen);
    }
    match facts.condition(name) {
        Some(condition) if condition.is(status) => Judgement::Met,
        Some(condition) => Judgement::NotYet(condition.says()),
        None => Judgement::NotYet(no_condition(object, name)),
    }
}

fn no_condition(object: &Object, name: &str) -> String {
    let conditions = object.items("/status/conditions").iter();
    let known: Vec<&str> = conditions.filter_map(|one| one["type"].as_str()).collect();
    match nearest(name, known.iter().copied()) {
        Some(near) if !near.eq_ignore_ascii_case(name) => {
            format!("it has no condition {name}; did you mean {near}?")
        }
        Some(_) => format!("its condition {name} is of an older generation"),
        None if known.is_empty() => format!("it has no condition {name} yet, nor any other"),
        None => format!("it has no condition {name} yet, only {}", known.join(", ")),
    }
}

fn field(object: &Object, path: &JsonPath, test: &ValueTest) -> Judgement {
    let found = path.select(object.body());
    match found.iter().find(|value| !test.passes(value)) {
        None if found.is_empty() => Judgement::NotYet(format!("it has no value at {path}")),
        None => Judgement::Met,
        // What is in a Secret is not to be shown.
        Some(_) if object.kind().is("", "Secret") => {
            Judgement::NotYet(format!("{path} is something else"))
        }
        Some(value) => Judgement::NotYet(format!("{path} is {}", shown(value))),
    }
}

/// Values may be long.
fn shown(value: &Value) -> String {
    match (scalar(value), value) {
        (Some(text), _) if text.chars().count() > 80 => {
            format!("{}…", text.chars().take(80).collect::<String>())
        }
        (Some(text), _) => text,
        (None, Value::Null) => "null".to_owned(),
        (None, Value::Array(items)) => format!("a list of {}", items.len()),
        (None, _) => "a mapping".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    fn judge(goal: &str, yaml: &str) -> String {
        let text = format!("{{apiVersion: example.com/v1, kind: Thing, {yaml}}}");
        let object = manifest::read("test", text.as_bytes()).unwrap().remove(0);
        match goal.parse::<Goal>().unwrap().judge(&object, Claims::Bound) {
            Judgement::Met => "met".to_owned(),
            Judgement::NotYet(because) => because,
            Judgement::Untold(because) => format!("untold: {because}"),
        }
    }

    #[test]
    fn goals_are_judged() {
        let ready = "metadata: {name: a, generation: 2}, status: {observedGeneration: 2, phase: Up, \
            size: 3, list: [1, 2], conditions: [{type: Ready, status: 'True'}, {type: Synced, status: \
            'False', reason: Busy, observedGeneration: 2}, {type: Old, status: 'True', \
            observedGeneration: 1}]}";
        let table = [
            ("ready", "met"),
            ("create", "met"),
            ("delete", "it is there, and nobody has deleted it"),
            ("condition=ready", "met"),
            ("condition=Ready=true", "met"),
            ("condition=Ready=False", "Ready is True"),
            ("condition=Synced", "Synced is False: Busy"),
            ("condition=Old", "its condition Old is of an older generation"),
            ("condition=Raedy", "it has no condition Raedy; did you mean Ready?"),
            ("condition=Available", "it has no condition Available yet, only Ready, Synced, Old"),
            ("jsonpath={.status.phase}=Up", "met"),
            ("jsonpath={.status.phase}=Down", "{.status.phase} is Up"),
            ("field=status.size>2", "met"),
            ("field=status.size>3", "status.size is 3"),
            ("field=status.list[*]>0", "met"),
            ("field=status.list[*]>1", "status.list[*] is 1"),
            ("field=status.list=1", "status.list is a list of 2"),
            ("field=status.address", "it has no value at status.address"),
        ];
        for (goal, wanted) in table {
            assert_eq!(judge(goal, ready), wanted, "{goal}");
        }
        let lagging = "metadata: {name: a, generation: 2}, status: {observedGeneration: 1, \
            conditions: [{type: Ready, status: 'True'}]}";
        let seen = "its controller has seen generation 1 of 2";
        assert_eq!(judge("condition=Ready", lagging), seen);
        assert_eq!(judge("ready", lagging), seen);
        assert_eq!(judge("ready", "metadata: {name: a}"), "untold: it has no status");
        let secret = "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: aHVudGVyMjI=}}";
        let secret = manifest::read("test", secret.as_bytes()).unwrap().remove(0);
        let hidden = "field=data.k=x".parse::<Goal>().unwrap().judge(&secret, Claims::Bound);
        assert_eq!(hidden, Judgement::NotYet("data.k is something else".to_owned()));
        let going =
            "metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [x/y]}";
        assert_eq!(judge("delete", going), "it is being deleted, and kept by x/y");
        assert_eq!(judge("condition=Ready", going), "it has no condition Ready yet, nor any other");
    }
}
