//! Handshakes that no wait mends.

use events::{Arrival, Class};
use talos::client::{Node, Reason};
use talos::credentials::{Identity, Role};
use talos::probe::{Mode, Owner, probe};

use crate::node::{CLOCKS_OFF, Face, TestNode, short};
use crate::sample::{bundle, now, rng};

fn node(test: &TestNode) -> Node {
    Node { address: test.address, deadlines: short() }
}

/// Whose node it is can be seen all the same: the probe trusts nothing that it
/// is shown, and dates change nothing about who has signed.
#[tokio::test]
async fn a_configured_node_whose_certificate_holds_at_another_time() {
    let bundle = bundle(1);
    let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(5)).unwrap();
    for year in CLOCKS_OFF {
        let test = TestNode::start(Face::ConfiguredIn(&bundle, year)).await;
        let error = node(&test).authenticated(&admin).await.unwrap_err();
        assert!(matches!(error.reason, Reason::NotAtThisTime(_)), "{error:?}");
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
        let told = error.failure().to_string();
        let holds = format!("holds from {year}-01-01T00:00:00Z to {year}-01-02T00:00:00Z");
        assert!(told.contains(&holds), "{told}");
        let ours = Some(bundle.os.certificate());
        let sighting = probe(test.address, ours, short().connect).await;
        assert_eq!(sighting.mode, Mode::Configured(Owner::Us));
    }
}

/// Most often a proxy in between; it says so by alert 70.
#[tokio::test]
async fn something_that_speaks_only_an_older_tls() {
    let bundle = bundle(1);
    let admin = Identity::talos(&bundle, Role::Admin, now(), &mut rng(5)).unwrap();
    let test = TestNode::start(Face::OldTls(&bundle)).await;
    for error in [
        node(&test).authenticated(&admin).await.unwrap_err(),
        node(&test).maintenance(None).await.unwrap_err(),
    ] {
        assert_eq!(error.reason, Reason::NotTls);
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    }
    let mode = probe(test.address, None, short().connect).await.mode;
    assert!(matches!(mode, Mode::NotTalos(_)), "{mode:?}");
}
