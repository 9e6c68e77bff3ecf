//! Field selectors: equality of the few fields that the API indexes.

use serde_json::Value;

use crate::kube::refusal::Refusal;

/// The fields of built-in kinds that a selector may name.
const KNOWN: &[&str] = &[
    "involvedObject.apiVersion",
    "involvedObject.fieldPath",
    "involvedObject.kind",
    "involvedObject.name",
    "involvedObject.namespace",
    "involvedObject.resourceVersion",
    "involvedObject.uid",
    "metadata.name",
    "metadata.namespace",
    "reason",
    "reportingComponent",
    "source",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "spec.signerName",
    "spec.unschedulable",
    "status.phase",
    "status.podIP",
    "status.successful",
    "type",
];

/// Requirements on fields, all of which must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldSelector {
    requirements: Vec<(String, bool, String)>,
}

impl FieldSelector {
    /// Reads a selector such as `status.phase!=Running,spec.nodeName=a`.
    pub(crate) fn parse(text: &str, custom: bool) -> Result<Self, Refusal> {
        let parts = text.split(',').filter(|part| !part.is_empty());
        let requirements = parts.map(|part| requirement(part, custom));
        Ok(Self { requirements: requirements.collect::<Result<_, _>>()? })
    }

    /// Says whether there are no requirements.
    pub(crate) fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Says whether an object meets all requirements.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let meets = |(path, equal, value): &(String, bool, String)| {
            (text_at(object, path) == *value) == *equal
        };
        self.requirements.iter().all(meets)
    }
}

fn requirement(part: &str, custom: bool) -> Result<(String, bool, String), Refusal> {
    let split = [("!=", false), ("==", true), ("=", true)]
        .into_iter()
        .find_map(|(sign, equal)| part.split_once(sign).map(|(path, value)| (path, equal, value)));
    let Some((path, equal, value)) = split else {
        let why = format!("invalid selector: '{part}'; can't understand '{part}'");
        return Err(Refusal::bad_request(why));
    };
    let allowed = if custom { &["metadata.name", "metadata.namespace"][..] } else { KNOWN };
    if !allowed.contains(&path) {
        return Err(Refusal::bad_request(format!("field label not supported: {path}")));
    }
    Ok((path.to_owned(), equal, value.to_owned()))
}

fn text_at(object: &Value, path: &str) -> String {
    let path = match path {
        "source" => "source.component",
        path => path,
    };
    match path.split('.').try_fold(object, |at, field| at.get(field)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        _ if path == "spec.unschedulable" => "false".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_compared_as_text() {
        let pod = json!({ "metadata": { "name": "a" }, "spec": { "nodeName": "n1" } });
        let matches = |text: &str| FieldSelector::parse(text, false).unwrap().matches(&pod);
        assert!(matches("spec.nodeName=n1,status.phase!=Running"));
        assert!(matches("spec.unschedulable=false"));
        assert!(!matches("metadata.name==b"));
    }

    #[test]
    fn unknown_fields_are_refused() {
        for (text, custom) in
            [("spec.replicas=1", false), ("spec.nodeName=a", true), ("name", false)]
        {
            assert_eq!(FieldSelector::parse(text, custom).unwrap_err().code, 400, "{text}");
        }
    }
}
