//! Deletions by somebody who may not watch.

use std::time::Duration;

use rig::proxy::Counts;
use serde_json::json;

use crate::harbour::{Harbour, PATIENCE};
use crate::remove::{doomed, held, quiet, release, remove_as};

/// Looks come after 1, 2, 4, 8 and then every 10 seconds while nothing moves.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_watch_looks_less_and_less_often_and_sees_the_end() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    for (name, verbs, look) in [
        ("lister", json!(["get", "list", "delete"]), "list"),
        ("getter", json!(["get", "delete"]), "get"),
    ] {
        let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": verbs }]);
        let account = harbour.as_account(name, rules).await;
        let target = doomed(&harbour.apply(&held(&harbour, name)).await.unwrap().object);
        let looks = |counts: &Counts| counts.of(look, "configmaps");
        let before = looks(&harbour.proxy.counts().borrow());
        let clock = events::Clock::real();
        let releasing = async {
            // The list before the watch that is refused, then three looks.
            let wanted = |counts: &Counts| looks(counts) >= before + 4;
            harbour.proxy.wait_for(PATIENCE, wanted).await.unwrap();
            let third = clock.elapsed();
            release(&harbour, name);
            third
        };
        let removing = remove_as(&harbour, &account, vec![target], quiet(60));
        let ((ended, _), third) = tokio::join!(removing, releasing);
        ended.unwrap_or_else(|stuck| panic!("{name}: {stuck}"));
        assert!(third >= Duration::from_secs(3), "{name}: {third:?} for looks after 1 and 2 s");
        let all = looks(&harbour.proxy.counts().borrow()) - before;
        let most = u64::from(look == "get") + 6;
        assert!(all <= most, "{name}: {all} looks in {:?}", clock.elapsed());
    }
}

/// Every 10 s at most where nothing moves, and after a second again once something has.
#[tokio::test(flavor = "multi_thread")]
async fn looks_are_ten_seconds_apart_at_most_and_a_second_after_progress() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"],
        "verbs": ["get", "list", "delete"] }]);
    let account = harbour.as_account("lister", rules).await;
    let both = ["example.com/stay", "example.com/too"];
    let map = json!({ "metadata": { "finalizers": both } });
    let map = harbour.object("v1", "ConfigMap", "a", map);
    let target = doomed(&harbour.apply(&map).await.unwrap().object);
    let before = harbour.proxy.counts().borrow().of("list", "configmaps");
    let clock = events::Clock::real();
    let look = async |nth: u64| {
        let wanted = |counts: &Counts| counts.of("list", "configmaps") >= before + nth;
        harbour.proxy.wait_for(PATIENCE, wanted).await.unwrap();
        clock.elapsed().as_secs_f64()
    };
    let watching = async {
        // The list before the watch that is refused twice, then looks that are
        // 1, 2, 4, 8 and 10 s apart.
        let (last, capped) = (look(6).await, look(7).await);
        assert!((9.0..12.0).contains(&(capped - last)), "{last} {capped}");
        let patch = json!({ "metadata": { "finalizers": ["example.com/stay"] } }).to_string();
        harbour.kubectl(&["patch", "cm", "a", "--type=merge", "-p", &patch]);
        let (seen, next) = (look(8).await, look(9).await);
        assert!((0.5..3.0).contains(&(next - seen)), "{seen} {next}");
        release(&harbour, "a");
    };
    let removing = remove_as(&harbour, &account, vec![target], quiet(60));
    let ((ended, _), ()) = tokio::join!(removing, watching);
    ended.unwrap();
}
