//! How many requests of a set are on their way at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use objects::Change;
use objects::set::{Set, Settings};
use rig::proxy::{Fault, Matching, Rule};
use serde_json::json;

use crate::harbour::{Harbour, means};

#[tokio::test]
async fn thirty_two_requests_are_on_their_way_and_never_more() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    // Long enough that whatever may be sent is sent before the first answer.
    let slow = Fault::Delay(Duration::from_secs(2));
    harbour.proxy.add(Rule::always(Matching::class("patch", "configmaps"), slow));
    let maps = (0..96).map(|n| harbour.config_map(&format!("c{n}"), json!({})));
    let set = Set::new(maps.collect(), harbour.namespace.name());
    let answered = Arc::new(AtomicU64::new(0));
    let (means, seen) = (means(), Arc::clone(&answered));
    let applying = harbour.cluster.apply_set(set, Settings::default(), &means, move |_| {
        seen.fetch_add(1, Ordering::SeqCst);
    });
    let mut counts = harbour.proxy.counts();
    let counting = async {
        let mut most = 0;
        while counts.changed().await.is_ok() {
            let asked = counts.borrow_and_update().of("patch", "configmaps");
            // What is answered is counted before anything else is sent.
            most = most.max(asked - answered.load(Ordering::SeqCst));
            if asked == 96 {
                break;
            }
        }
        most
    };
    let (report, most) = tokio::join!(applying, counting);
    assert_eq!(report.unwrap().count(Change::Created), 96);
    assert_eq!(most, 32, "at once");
}
