//! The targets under libFuzzer, which brings `main` and its own arguments.
#![no_main]

use std::sync::LazyLock;

use fuzz::{Target, targets};
use libfuzzer_sys::fuzz_target;

/// libFuzzer reads the arguments, so the target is named by the environment.
static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("SEAWORTHY_FUZZ_TARGET").unwrap_or_default();
    targets().find(|target| target.name == name).expect("`cargo xtask fuzz` names a target")
});

fuzz_target!(|bytes: &[u8]| (TARGET.feed)(bytes));
