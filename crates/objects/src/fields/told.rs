//! Paths as the API writes them in its errors.
//!
//! A conflict has `.data.nginx.conf` and `.spec.containers[name="x"].image`, a
//! bad value has `spec.containers[0].resources.limits[cpu]`. Neither quotes a
//! name, so only the object that was sent tells where a name with a dot ends.

use std::collections::HashSet;

use serde_json::Value;

use super::{FieldPath, Step};

impl FieldPath {
    /// Reads a path out of an error of the API. `sent` is the object that the
    /// error is about: without it, every dot is taken for the end of a name.
    pub fn told(text: &str, sent: Option<&Value>) -> Option<Self> {
        if text.is_empty() || text == "<nil>" {
            return None;
        }
        let dotted = if text.starts_with(['.', '[']) { text } else { &format!(".{text}") };
        let read = |which: Which| {
            let mut reader = Reader { which, steps: Vec::new(), dead_ends: HashSet::new() };
            reader.read(dotted, sent).then(|| reader.steps.into_iter().collect())
        };
        read(Which::OnlyThere).or_else(|| read(Which::Any))
    }

    /// Returns it as the API writes conflicts, with nothing quoted.
    pub(crate) fn as_told(&self) -> String {
        let step = |step: &Step| match step {
            Step::Field(name) => format!(".{name}"),
            other => other.to_string(),
        };
        self.steps().iter().map(step).collect()
    }
}

/// No object is nested deeper than so; what says so is not read.
const MOST_STEPS: usize = 200;
/// A value in brackets may have brackets itself, and no more than so many of them.
const MOST_ENDS: usize = 16;

/// Which ways are gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those that are there in the object.
    OnlyThere,
    /// Also those that are not: the error may be about a field that is missing.
    Any,
}

/// A path that is being read.
struct Reader {
    which: Which,
    steps: Vec<Step>,
    /// What led nowhere, by what was left of the text and where in the object it
    /// was: where names are ambiguous, many ways meet there again.
    dead_ends: HashSet<(usize, Option<*const Value>)>,
}

impl Reader {
    /// Reads on from a value; takes its steps back where it leads nowhere.
    fn read(&mut self, rest: &str, at: Option<&Value>) -> bool {
        if rest.is_empty() {
            return true;
        }
        let place = (rest.len(), at.map(std::ptr::from_ref));
        if self.steps.len() >= MOST_STEPS || self.dead_ends.contains(&place) {
            return false;
        }
        let found = readings(rest, at).into_iter().any(|(step, rest)| self.take(step, rest, at));
        if !found {
            self.dead_ends.insert(place);
        }
        found
    }

    fn take(&mut self, step: Step, rest: &str, at: Option<&Value>) -> bool {
        let next = at.and_then(|value| step.follow(value));
        if next.is_none() && self.which == Which::OnlyThere {
            return false;
        }
        self.steps.push(step);
        let done = self.read(rest, next);
        if !done {
            self.steps.pop();
        }
        done
    }
}

/// What the next step may be, the likeliest first, each with what is behind it.
fn readings<'a>(rest: &'a str, at: Option<&Value>) -> Vec<(Step, &'a str)> {
    let mut readings: Vec<_> =
        names(at).filter_map(|name| Some((Step::field(name), behind(rest, name)?))).collect();
    // The longest name first: `a.b` rather than `a` where there are both.
    readings.sort_by_key(|(_, rest)| rest.len());
    readings.extend(typed(rest));
    readings.extend(bare(rest));
    readings
}

fn names(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

/// Returns what follows `.name` or `[name]`, where that is how the text begins.
fn behind<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    if let Some(rest) = rest.strip_prefix('.').and_then(|rest| rest.strip_prefix(name)) {
        return (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest);
    }
    rest.strip_prefix('[')?.strip_prefix(name)?.strip_prefix(']')
}

/// `[0]`, `[name="app"]`, `[="x"]`: as in our own text.
fn typed(rest: &str) -> Option<(Step, &str)> {
    if !rest.starts_with('[') {
        return None;
    }
    let ends = rest.match_indices(']').map(|(end, _)| end + 1).take(MOST_ENDS);
    ends.into_iter().find_map(|end| {
        let path: FieldPath = rest[..end].parse().ok()?;
        Some((path.steps().first()?.clone(), &rest[end..]))
    })
}

/// A name that nobody knows, up to the next sign.
fn bare(rest: &str) -> Option<(Step, &str)> {
    if let Some(inside) = rest.strip_prefix('[') {
        let (name, rest) = inside.split_once(']')?;
        return Some((Step::field(name), rest));
    }
    let name = rest.strip_prefix('.')?;
    let end = name.find(['.', '[']).unwrap_or(name.len());
    (end > 0).then(|| (Step::field(&name[..end]), &name[end..]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(text: &str, sent: &Value) -> String {
        FieldPath::told(text, Some(sent)).map_or("none".to_owned(), |path| path.to_string())
    }

    #[test]
    fn names_with_dots_are_found_in_what_was_sent() {
        let sent = json!({ "data": { "nginx.conf": "x", "a.b": "1", "a.b.c": "2", "a": "3" },
            "metadata": { "labels": { "app.kubernetes.io/name": "x" } } });
        assert_eq!(told(".data.nginx.conf", &sent), r#"data["nginx.conf"]"#);
        assert_eq!(told(".data.a.b.c", &sent), r#"data["a.b.c"]"#);
        assert_eq!(told(".data.a", &sent), "data.a");
        let label = r#"metadata.labels["app.kubernetes.io/name"]"#;
        assert_eq!(told(".metadata.labels.app.kubernetes.io/name", &sent), label);
        assert_eq!(told("metadata.labels[app.kubernetes.io/name]", &sent), label);
        assert_eq!(told("data[nginx.conf]", &sent), r#"data["nginx.conf"]"#);
        // A field that was not sent: every dot ends a name.
        assert_eq!(told(".data.un.known", &sent), "data.un.known");
    }

    #[test]
    fn both_forms_of_list_items_are_typed() {
        let sent = json!({ "spec": { "containers": [{ "name": "x", "image": "i",
            "resources": { "limits": { "cpu": "y", "example.com/gpu": "z" } } }] } });
        let conflict = r#".spec.containers[name="x"].image"#;
        assert_eq!(told(conflict, &sent), r#"spec.containers[name="x"].image"#);
        let limits = "spec.containers[0].resources.limits";
        assert_eq!(told(&format!("{limits}[cpu]"), &sent), format!("{limits}.cpu"));
        let gpu = format!(r#"{limits}["example.com/gpu"]"#);
        assert_eq!(told(&format!("{limits}[example.com/gpu]"), &sent), gpu);
        let finalizer = r#".metadata.finalizers[="a]b"]"#;
        assert_eq!(told(finalizer, &sent), r#"metadata.finalizers[="a]b"]"#);
        assert_eq!(told("data[0]", &json!({ "data": { "0": "" } })), r#"data["0"]"#);
    }

    #[test]
    fn without_an_object_the_path_reads_as_it_stands() {
        let path = FieldPath::told(".data.x.y", None).unwrap();
        assert_eq!((path.to_string(), path.as_told()), ("data.x.y".into(), ".data.x.y".into()));
        let sent = json!({ "data": { "x.y": 1 } });
        assert_eq!(told(&path.as_told(), &sent), r#"data["x.y"]"#);
        assert_eq!(FieldPath::told("", None), None);
        assert_eq!(FieldPath::told("<nil>", None), None);
        assert_eq!(FieldPath::told("spec..x", None), None);
    }

    /// Whoever writes such errors must not keep us busy for ever.
    #[test]
    fn a_text_that_can_be_read_in_many_ways_is_read_once() {
        assert_eq!(FieldPath::told(&format!("{}.", "[0]".repeat(100)), None), None);
        assert_eq!(FieldPath::told(&"[0]".repeat(20_000), None), None);
        let sent = json!({ "a": { "a": { "a": {} }, "a.a": {} }, "a.a": { "a": {} } });
        assert_eq!(FieldPath::told(&format!("{}..", ".a".repeat(60)), Some(&sent)), None);
    }
}
