//! Every target takes its seeds, all their beginnings, and what chance makes of
//! them. Led by coverage: `cargo xtask fuzz`.

use std::collections::BTreeSet;

use fuzz::{Target, targets};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// One change of an input, at a place from 0 (the front) to 1 (the end).
#[derive(Clone, Debug)]
enum Change {
    Set(f64, u8),
    Insert(f64, Vec<u8>),
    Remove(f64, usize),
    Repeat(f64, usize, usize),
}

impl Change {
    fn any() -> impl Strategy<Value = Self> {
        // What means something in YAML, JSON and paths, and any other byte.
        let byte = prop_oneof![
            3 => prop::sample::select(b"{}[]()<>:;,.-_?!&*|%@`'\"\\/~^=#$ \n\r\t0123456789aAzZ".to_vec()),
            1 => any::<u8>(),
        ];
        let place = 0.0..1.0_f64;
        let length = 1..40_usize;
        prop_oneof![
            (place.clone(), byte.clone()).prop_map(|(at, byte)| Self::Set(at, byte)),
            (place.clone(), prop::collection::vec(byte, 1..12))
                .prop_map(|(at, bytes)| Self::Insert(at, bytes)),
            (place.clone(), length.clone()).prop_map(|(at, length)| Self::Remove(at, length)),
            (place, length, 2..60_usize)
                .prop_map(|(at, length, times)| Self::Repeat(at, length, times)),
        ]
    }

    fn make(&self, input: &mut Vec<u8>) {
        let (Self::Set(at, _) | Self::Insert(at, _) | Self::Remove(at, _) | Self::Repeat(at, ..)) =
            self;
        let from = place(*at, input.len());
        let until = |length: usize| (from + length).min(input.len());
        match self {
            Self::Set(_, byte) => {
                if let Some(there) = input.get_mut(from) {
                    *there = *byte;
                }
            }
            Self::Insert(_, bytes) => drop(input.splice(from..from, bytes.iter().copied())),
            Self::Remove(_, length) => drop(input.drain(from..until(*length))),
            Self::Repeat(_, length, times) => {
                let part = input[from..until(*length)].repeat(*times);
                input.splice(from..from, part);
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "any place will do"
)]
fn place(at: f64, length: usize) -> usize {
    ((at * length as f64) as usize).min(length)
}

#[test]
fn every_beginning_of_a_seed_is_read() {
    for target in targets() {
        for seed in target.seeds {
            for end in 0..=seed.len() {
                (target.feed)(&seed.as_bytes()[..end]);
            }
        }
    }
}

#[test]
fn what_chance_makes_of_seeds_is_read() {
    for target in targets() {
        try_out(target);
    }
}

fn try_out(target: &Target) {
    let seeds = prop::sample::select(target.seeds.to_vec());
    let inputs = (seeds, prop::collection::vec(Change::any(), 1..8));
    let config = Config { cases: 120, failure_persistence: None, ..Config::default() };
    let tried = TestRunner::new(config).run(&inputs, |(seed, changes)| {
        let mut input = seed.as_bytes().to_vec();
        for change in &changes {
            change.make(&mut input);
        }
        (target.feed)(&input);
        Ok(())
    });
    tried.unwrap_or_else(|failure| panic!("{}: {failure}", target.name));
}

#[test]
fn a_target_has_a_name_of_its_own_and_seeds() {
    let names: BTreeSet<_> = targets().map(|target| target.name).collect();
    assert_eq!(names.len(), targets().count());
    assert!(targets().all(|target| !target.seeds.is_empty()));
}
