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
