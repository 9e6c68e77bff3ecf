//! Every row of the table of rules, each with a config and a patch that come out
//! otherwise without it. The real talosctl says what they come to.

mod documents;
mod main_document;

use serde_json::Value;
use talos::config::patch::ruled_places;

use crate::patches::{difference, patched};
use crate::talosctl::Judge;

/// What the main document and the value of an operation are called in the table.
const MAIN: &str = "v1alpha1";
const VALUE: &str = "value";

/// A rule at work: the kind of the document, the place of the rule in it, what
/// the document holds, and what the patch does. Both are fields in one line.
type Case = (&'static str, &'static str, &'static str, &'static str);

fn applied() -> impl Iterator<Item = Case> {
    main_document::APPLIED.iter().chain(documents::APPLIED).copied()
}

fn refused() -> impl Iterator<Item = Case> {
    main_document::REFUSED.iter().chain(documents::REFUSED).copied()
}

/// Returns the place in the table of the rule that a case is about.
fn row((kind, path, _, _): Case) -> Option<usize> {
    ruled_places().position(|(rule_kind, rule_path)| {
        let is_kind = rule_kind == kind || (rule_kind == "*" && kind != MAIN);
        let (wanted, steps) = (rule_path.split('.'), path.split('.'));
        is_kind
            && wanted.clone().count() == steps.clone().count()
            && wanted.zip(steps).all(|(wanted, step)| wanted == "*" || wanted == step)
    })
}

fn document(kind: &str, fields: &str) -> String {
    match kind {
        VALUE if fields.starts_with('[') => fields.to_owned(),
        MAIN | VALUE => format!("{{{fields}}}\n"),
        _ => format!("{{apiVersion: v1alpha1, kind: {kind}, {fields}}}\n"),
    }
}

#[test]
fn every_row_of_the_table_has_a_case_and_every_case_a_row() {
    let mut bare: Vec<_> = ruled_places().map(Some).collect();
    for case in applied().chain(refused()) {
        let row = row(case).unwrap_or_else(|| panic!("there is no rule for {case:?}"));
        bare[row] = None;
    }
    let bare: Vec<_> = bare.into_iter().flatten().collect();
    assert!(bare.is_empty(), "these rules have no case: {bare:#?}");
}

#[test]
fn every_row_of_the_table_does_what_talosctl_does() {
    let Some(judge) = Judge::find() else { return };
    let mut wrong = Vec::new();
    for (kind, path, config, patch) in applied() {
        let (config, patch) = (document(kind, config), document(kind, patch));
        let found = match kind {
            VALUE => operation_differs(&judge, &config, &patch),
            _ => difference(&judge, &config, &[&patch]),
        };
        // What both refuse would be no difference either.
        let found = found.or_else(|| patched(&config, &[&patch]).err());
        wrong.extend(found.map(|it| format!("{kind} {path}: {it}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Operations work on what was written, and talosctl leaves the rest of it so.
fn operation_differs(judge: &Judge, config: &str, patch: &str) -> Option<String> {
    let ours: Vec<Value> = serde_saphyr::from_multiple(&patched(config, &[patch]).ok()?).unwrap();
    let theirs = judge.patch(config, &[patch]).unwrap();
    (ours != theirs).then(|| format!("{ours:?}, and talosctl: {theirs:?}"))
}

#[test]
fn what_a_row_of_the_table_refuses_talosctl_refuses() {
    let Some(judge) = Judge::find() else { return };
    for (kind, path, config, patch) in refused() {
        let (config, patch) = (document(kind, config), document(kind, patch));
        judge.canonical(&config).unwrap();
        let error = patched(&config, &[&patch]).unwrap_err();
        assert!(error.ends_with("there is nothing to delete"), "{kind} {path}: {error}");
        assert_eq!(difference(&judge, &config, &[&patch]), None, "{kind} {path}");
    }
}
