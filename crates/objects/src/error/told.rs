//! Problems with fields that the API tells in a text alone, without causes.

use std::sync::LazyLock;

use regex::Regex;

use super::FieldProblem;

/// How the typed patch of a server-side apply begins to complain. It comes as
/// an internal error, which repeating does not cure.
const TYPED_PATCH: &str = "failed to create typed patch object";

/// The reason of a field that is not known. The API has no word for it.
pub(super) const NOT_DECLARED: &str = "FieldNotDeclared";

static STRICT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(unknown|duplicate) field "((?:[^"\\]|\\.)*)"|line \d+: key "[^\n]*" already set in map"#)
        .expect("a constant pattern")
});

/// Returns whether a message of an internal error is about the object that was sent.
pub(super) fn is_about_fields(message: &str) -> bool {
    message.contains(TYPED_PATCH)
        || message.contains("field not declared in schema")
        || message.contains("unable to convert unstructured object to")
}

/// Returns whether a message of a bad request is about fields that are not known.
pub(super) fn is_strict_decoding(message: &str) -> bool {
    message.contains("strict decoding error") || message.contains("error strict decoding")
}

/// Reads all problems; the whole message is one where none can be read. They are
/// sorted by their fields: the API tells them in another order each time.
pub(super) fn problems(message: &str) -> Vec<FieldProblem> {
    let mut found =
        if is_strict_decoding(message) { strict(message) } else { typed_patch(message) };
    found.sort_by_cached_key(|problem| problem.path.as_ref().map(ToString::to_string));
    if found.is_empty() { vec![FieldProblem::of("", "", message)] } else { found }
}

/// Reads `… Kind=Buoy): .spec.size: expected numeric`, and several of them in
/// lines after `errors:`.
fn typed_patch(message: &str) -> Vec<FieldProblem> {
    let rest = message.split_once("): ").map_or(message, |(_, rest)| rest);
    let lines = rest.strip_prefix("errors:").unwrap_or(rest).lines();
    let problem = |line: &str| {
        let (path, problem) = split(line.trim())?;
        let declared = problem != "field not declared in schema";
        let reason = if declared { "FieldTypeInvalid" } else { NOT_DECLARED };
        Some(FieldProblem::of(path, reason, problem))
    };
    lines.filter_map(problem).collect()
}

/// Splits `.a["b: c"]: wrong` after the path.
fn split(line: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let end = line.char_indices().find(|(at, symbol)| {
        quoted ^= *symbol == '"';
        !quoted && line[*at..].starts_with(": ")
    });
    let (path, problem) = line.split_at(end?.0);
    path.starts_with('.').then_some((path, &problem[2..]))
}

/// Reads `strict decoding error: unknown field "spec.replica", …`.
fn strict(message: &str) -> Vec<FieldProblem> {
    let problem = |found: regex::Captures<'_>| match (found.get(1), found.get(2)) {
        (Some(how), Some(path)) => {
            let path = path.as_str().replace(r#"\""#, "\"").replace(r"\\", r"\");
            let unknown = how.as_str() == "unknown";
            let reason = if unknown { NOT_DECLARED } else { "FieldDuplicate" };
            let says =
                if unknown { "field not declared in schema" } else { "the field is there twice" };
            FieldProblem::of(&path, reason, says)
        }
        _ => FieldProblem::of("", "FieldDuplicate", &found[0]),
    };
    STRICT.captures_iter(message).map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &str) -> Vec<String> {
        problems(message).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_field_of_a_typed_patch_is_told() {
        let patch = |rest: &str| {
            shown(&format!("failed to create typed patch object (n/a; x/v1, Kind=Buoy): {rest}"))
        };
        assert_eq!(
            patch(
                "errors:\n  .spec.parts[name=\"a: b\"].w: field not declared in schema\n  .metadata.lables: field not declared in schema"
            ),
            [
                "`metadata.lables`: field not declared in schema",
                "`spec.parts[name=\"a: b\"].w`: field not declared in schema",
            ]
        );
        let wrong = ".spec.replicas: expected numeric (int or float), got string";
        assert_eq!(patch(wrong), ["`spec.replicas`: expected numeric (int or float), got string"]);
        let whole = "failed to create typed patch object (n/a; x/v1, Kind=Buoy): no schema";
        assert_eq!(shown(whole), [whole]);
    }

    #[test]
    fn every_field_of_strict_decoding_is_told() {
        let strict = |rest: &str| {
            shown(&format!(
                "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: {rest}"
            ))
        };
        assert_eq!(
            strict(
                "unknown field \"spec.replica\", duplicate field \"spec.template.spec.containers[0].image\""
            ),
            [
                "`spec.replica`: field not declared in schema",
                "`spec.template.spec.containers[0].image`: the field is there twice",
            ]
        );
        assert_eq!(
            strict(
                "yaml: unmarshal errors:\n  line 4: key \"a\" already set in map, unknown field \"meta\""
            ),
            ["line 4: key \"a\" already set in map", "`meta`: field not declared in schema"]
        );
    }
}
