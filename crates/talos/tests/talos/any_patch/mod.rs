//! Configs and patches by chance, and the same made of them by talosctl and us.

mod operations;
mod parts;
mod scalars;
mod twists;

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use self::operations::{MAIN, operation};
use self::parts::Part;
use self::scalars::{is_null, unquoted, written};
use self::twists::twists;
use crate::patches::{difference, patched};
use crate::talosctl::Judge;

/// Talosctl is started up to three times for each.
const CASES: u32 = 48;

/// The same cases every time, so that nobody's change fails for what it did not
/// do. Whoever changes the merge tries more of them, and others:
/// `SEAWORTHY_TEST_CASES` and `SEAWORTHY_TEST_SEED`.
fn runner() -> TestRunner {
    let settings = rig::settings::Settings::get();
    let cases = settings.cases.unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = match settings.seed {
        None => TestRng::deterministic_rng(RngAlgorithm::ChaCha),
        Some(seed) => {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&seed.to_le_bytes());
            TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
        }
    };
    TestRunner::new_with_rng(config, rng)
}

/// A patch, as it is written.
fn patch() -> impl Strategy<Value = String> {
    (Part::Patch.documents(), twists()).prop_map(|(mut documents, twists)| {
        for twist in twists {
            twist.apply(&mut documents);
        }
        written(&documents)
    })
}

#[test]
fn any_patch_does_what_it_does_in_talosctl() {
    let Some(judge) = Judge::find() else { return };
    let refused = Cell::new(0);
    // Several at once show what one has left for the next.
    let patches = prop_oneof![
        4 => patch().prop_map(|it| vec![it]),
        1 => prop::collection::vec(patch(), 2..4),
    ];
    let config = Part::Config.documents().prop_map(|documents| written(&documents));
    let result = runner().run(&(config, patches), |(config, patches)| {
        let patches: Vec<_> = patches.iter().map(String::as_str).collect();
        let found = difference(&judge, &config, &patches);
        // What talosctl does not take cannot be patched either.
        prop_assume!(found.is_none() || judge.canonical(&config).is_ok());
        refused.set(refused.get() + u32::from(patched(&config, &patches).is_err()));
        prop_assert_eq!(found, None);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    println!("{} were refused by both", refused.get());
}

#[test]
fn any_operations_do_what_they_do_in_talosctl() {
    let Some(judge) = Judge::find() else { return };
    let operations = prop::collection::vec(operation(), 1..4);
    let result = runner().run(&operations, |operations| {
        let lines: Vec<_> = operations.iter().map(Value::to_string).collect();
        let patch = unquoted(&format!("[\n{}\n]", lines.join(",\n")));
        let parsed = |text: String| serde_saphyr::from_multiple::<Value>(&text).unwrap();
        let ours = patched(MAIN, &[&patch]).map(parsed);
        let theirs = judge.patch(MAIN, &[&patch]);
        // The standard has these fail where there is nothing, and so do we.
        let failed = |(index, operation): (usize, &Value)| {
            let for_nothing = operation["op"] == "test" && is_null(&operation["value"]);
            (operation["op"] == "replace" || operation["op"] == "copy" || for_nothing)
                && ours.as_ref().is_err_and(|it| it.contains(&format!("line {},", index + 2)))
        };
        if operations.iter().enumerate().any(failed) {
            return Ok(());
        }
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        prop_assert_eq!(ours.ok(), theirs.ok());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
