//! `up` on real machines: from maintenance mode to proven, on Talos nodes that
//! nobody of us wrote.

use crate::yard::Yard;

#[test]
fn real_machines_are_proven() {
    let Some(yard) = Yard::new(1, 1) else { return };
    let ran = yard.up();
    assert_eq!(ran.exit, 0, "{}\n{ran}", yard.file);
    let leftovers = yard.talos.end();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}
