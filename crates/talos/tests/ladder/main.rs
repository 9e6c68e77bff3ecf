//! The ladder from a bare machine to a cluster, each rung alone: the API is
//! reachable, one node takes its config, it lets its administrator in, one
//! node bootstraps, several become a cluster. Then every wrong move.
//!
//! The same code climbs it twice: on simulated nodes, and on real ones of the
//! rig where they are asked for.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod climber;
mod cut;
mod ground;
#[path = "../talos/permits.rs"]
mod permits;
mod reads;
mod real;
mod rungs;
#[path = "../talos/sample.rs"]
mod sample;
mod simulated;
mod upkeep;
mod wrong_moves;

/// Makes two tests of one: on simulated nodes, and on real ones.
macro_rules! on_both_grounds {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        mod on_simulated_nodes {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::$name(crate::ground::Ground::simulated()).await;
            })*
        }
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
