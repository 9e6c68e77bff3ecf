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
    let (tried, refused) = (Cell::new(0), Cell::new(0));
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
        tried.set(tried.get() + 1);
        refused.set(refused.get() + u32::from(patched(&config, &patches).is_err()));
        prop_assert_eq!(found, None);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    few("refused by both", refused.get(), tried.get());
}

/// What is not applied is not compared: there may be few of those.
fn few(what: &str, some: u32, tried: u32) {
    println!("{some} of {tried} were {what}");
    assert!(2 * some < tried, "{some} of {tried} were {what}");
}

#[test]
fn any_operations_do_what_they_do_in_talosctl() {
    let Some(judge) = Judge::find() else { return };
    let (tried, refused, left) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let operations = prop::collection::vec(operation(), 1..4);
    let result = runner().run(&operations, |operations| {
        tried.set(tried.get() + 1);
        let mut operations = operations.as_slice();
        let mut ours = operated(operations);
        if let Some((before, at)) = failed_for_nothing(operations, &ours) {
            left.set(left.get() + 1);
            // Those before it are compared all the same.
            (operations, ours) = (&operations[..at], Ok(before));
        }
        if operations.is_empty() {
            return Ok(());
        }
        let theirs = judge.patch(MAIN, &[&written_as_patch(operations)]);
        refused.set(refused.get() + u32::from(ours.is_err()));
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        prop_assert_eq!(ours.ok(), theirs.ok());
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    few("refused by both", refused.get(), tried.get());
    few("refused by us alone, for what is not there", left.get(), tried.get());
}

fn operated(operations: &[Value]) -> Result<Vec<Value>, String> {
    let text = match operations {
        [] => MAIN.to_owned(),
        some => patched(MAIN, &[&written_as_patch(some)])?,
    };
    Ok(serde_saphyr::from_multiple(&text).unwrap())
}

/// Writes each on a line of its own, the first on the second line.
fn written_as_patch(operations: &[Value]) -> String {
    let lines: Vec<_> = operations.iter().map(Value::to_string).collect();
    unquoted(&format!("[\n{}\n]", lines.join(",\n")))
}

/// Returns which operation we have refused because there is nothing at its place,
/// as the standard says and talosctl does not, and what there is.
fn failed_for_nothing(
    operations: &[Value],
    ours: &Result<Vec<Value>, String>,
) -> Option<(Vec<Value>, usize)> {
    let said = ours.as_ref().err()?;
    let is_named = |index: usize| said.contains(&format!("line {},", index + 2));
    let at = (0..operations.len()).find(|index| is_named(*index))?;
    let field = match operations[at]["op"].as_str()? {
        "replace" => "path",
        "test" if is_null(&operations[at]["value"]) => "path",
        "copy" => "from",
        _ => return None,
    };
    let before = operated(&operations[..at]).unwrap();
    let place = operations[at][field].as_str()?;
    before[0].pointer(place).is_none().then_some((before, at))
}
