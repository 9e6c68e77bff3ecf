//! The stages of `up` and `down` through our real clients, over real sockets
//! and real TLS, against a simulated world.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod berths;
mod chaos;
mod doubts;
mod endpoints;
mod fault_pairs;
mod fault_times;
mod faults;
mod gitops;
mod harbour;
mod machines;
mod messages;
mod mishaps;
mod offers;
mod strangers;
mod sweep;
mod yard;

use events::RunOutcome;
use harbour::{Harbour, LAST};

#[tokio::test(flavor = "multi_thread")]
async fn up_twice_and_down() {
    let harbour = Harbour::new("1", 3, 2).await;
    harbour.add_neighbours();
    let neighbours = harbour.servers_of_others().await;
    assert_eq!(neighbours.len(), 3);
    let first = harbour.up(Some(LAST)).await;
    println!("{}", first.text);
    assert!(first.is_done, "{}", first.text);
    let effects = harbour.world.effects().all();
    let second = harbour.up(Some(LAST)).await;
    println!("{}", second.text);
    assert!(second.is_done, "{}", second.text);
    let more = harbour.world.effects().all().split_off(effects.len());
    assert!(more.is_empty(), "a second run changes nothing: {more:?}");
    let down = harbour.down().await;
    println!("{}", down.text);
    assert_eq!(down.outcome, RunOutcome::Proven, "{}", down.text);
    assert_eq!(harbour.servers_of_others().await, neighbours, "others' servers are untouched");
    let shown = [first.text, second.text, down.text].concat();
    assert_eq!(harbour.leaks(&shown), Vec::<String>::new(), "a secret got out");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_node_and_a_single_control_plane_come_up() {
    for (number, workers) in [("2", 0), ("3", 2)] {
        let harbour = Harbour::new(number, 1, workers).await;
        let ran = harbour.up(Some(LAST)).await;
        assert!(ran.is_done, "1 + {workers}: {}", ran.text);
    }
}
