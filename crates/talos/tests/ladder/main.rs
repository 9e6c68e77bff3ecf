//! The ladder from a bare machine to a cluster, each rung alone: the API is
//! reachable, one node takes its config, it lets its administrator in, one
//! node bootstraps, several become a cluster. Then every wrong move.
//!
//! The same code climbs it twice: on simulated nodes, and on real ones of the
//! rig where they are asked for. What versions of Talos say differently it
//! climbs on simulated nodes of each.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod at_once;
mod climber;
mod cut;
mod ground;
#[path = "../talos/permits.rs"]
mod permits;
mod reads;
mod real;
mod release;
mod rungs;
#[path = "../talos/sample.rs"]
mod sample;
mod simulated;
mod upkeep;
mod wrong_moves;

/// Makes a test of each on simulated nodes of a version.
macro_rules! on_simulated_nodes {
    ($module:ident, $release:ident, $($name:ident),* $(,)?) => {
        mod $module {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let release = crate::release::Release::$release;
                super::$name(crate::ground::Ground::simulated_of(release)).await;
            })*
        }
    };
}
pub(crate) use on_simulated_nodes;

/// Makes two tests of one: on simulated nodes, and on real ones.
macro_rules! on_both_grounds {
    ($($name:ident),* $(,)?) => {
        crate::on_simulated_nodes! { on_simulated_nodes, V1_14, $($name),* }
        mod on_real_nodes {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                let Some(ground) = crate::ground::Ground::real() else { return };
                super::$name(ground).await;
            })*
        }
    };
}
pub(crate) use on_both_grounds;

/// Makes five tests of one: on both grounds, and on simulated nodes of older
/// versions: the oldest, and the last and the first of the two dialects.
macro_rules! on_every_version {
    ($($name:ident),* $(,)?) => {
        crate::on_both_grounds! { $($name),* }
        crate::on_simulated_nodes! { on_simulated_nodes_of_1_8, V1_8, $($name),* }
        crate::on_simulated_nodes! { on_simulated_nodes_of_1_12, V1_12, $($name),* }
        crate::on_simulated_nodes! { on_simulated_nodes_of_1_13, V1_13, $($name),* }
    };
}
pub(crate) use on_every_version;
