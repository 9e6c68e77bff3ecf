//! The probe, against everything that may listen on a node's port.

use std::net::SocketAddr;
use std::time::Duration;

use talos::client::Reason;
use talos::pki::{Authority, Lifetime, PrivateKey};
use talos::probe::{Mode, Owner, Sighting, probe};

use crate::node::{CLOCKS_OFF, Face, TestNode};
use crate::sample::{bundle, now, rng};

const DEADLINE: Duration = Duration::from_millis(900);

async fn look(address: SocketAddr, ours: Option<&talos::pki::Certificate>) -> Sighting {
    probe(address, ours, DEADLINE).await
}

#[tokio::test]
async fn a_node_in_maintenance_mode() {
    let off = CLOCKS_OFF.map(Face::MaintenanceIn);
    for face in [Face::Maintenance].into_iter().chain(off) {
        let test = TestNode::start(face).await;
        let sighting = look(test.address, Some(bundle(1).os.certificate())).await;
        assert_eq!(sighting.mode, Mode::Maintenance);
        assert!(!sighting.asks_for_certificate);
        let evidence = serde_json::to_value(sighting.evidence()).unwrap();
        assert_eq!(evidence["summary"], format!("{} is maintenance", test.address));
        let facts = evidence["facts"].to_string();
        assert!(facts.contains("CN=maintenance-service.talos.dev"), "{facts}");
    }
}

#[tokio::test]
async fn a_configured_node_is_told_by_its_owner() {
    let [ours, theirs] = [1, 2].map(bundle);
    let test = TestNode::start(Face::Configured(&theirs)).await;
    let rows = [
        (None, Owner::Unknown),
        (Some(theirs.os.certificate()), Owner::Us),
        (Some(ours.os.certificate()), Owner::Somebody),
    ];
    for (authority, owner) in rows {
        let sighting = look(test.address, authority).await;
        assert_eq!(sighting.mode, Mode::Configured(owner));
        assert!(sighting.asks_for_certificate);
        assert_eq!(sighting.accepted_authorities, ["O=talos"]);
        assert_eq!(sighting.certificate.unwrap().issuer, "O=talos");
    }
}

/// `talosctl gen ca --organization` makes such authorities.
#[tokio::test]
async fn a_configured_node_is_known_whatever_its_authority_is_called() {
    let [ours, mut theirs] = [1, 2].map(bundle);
    let key = PrivateKey::ed25519(&mut rng(3));
    let lifetime = Lifetime::ten_years(now());
    theirs.os = Authority::new(Some("acme"), key, lifetime, &mut rng(4)).unwrap();
    let test = TestNode::start(Face::Configured(&theirs)).await;
    let rows = [
        (None, Owner::Unknown),
        (Some(theirs.os.certificate()), Owner::Us),
        (Some(ours.os.certificate()), Owner::Somebody),
    ];
    for (authority, owner) in rows {
        let sighting = look(test.address, authority).await;
        assert_eq!(sighting.mode, Mode::Configured(owner));
        assert_eq!(sighting.certificate.unwrap().issuer, "O=acme");
    }
}

#[tokio::test]
async fn a_node_between_its_modes() {
    let bundle = bundle(1);
    for face in [Face::Window(&bundle), Face::Closing] {
        let test = TestNode::start(face).await;
        let sighting = look(test.address, Some(bundle.os.certificate())).await;
        assert_eq!(sighting.mode, Mode::InTransition);
        assert!(sighting.mode.advice().is_some());
    }
}

/// However many there are, they are looked at together.
#[tokio::test]
async fn many_that_never_answer_take_one_deadline() {
    let silent = TestNode::start(Face::Silent).await;
    let began = tokio::time::Instant::now();
    let address = silent.address;
    let looks = (0..200).map(|_| probe(address, None, DEADLINE));
    for sighting in looks.collect::<tokio::task::JoinSet<_>>().join_all().await {
        // Two hundred handshakes on a busy machine may not all get to begin.
        let silent = Mode::Unreachable(Reason::Silent);
        let late = Mode::Unreachable(Reason::NoAnswer);
        assert!([silent, late].contains(&sighting.mode), "{:?}", sighting.mode);
    }
    assert!(began.elapsed() < 3 * DEADLINE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_is_no_node() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = port.local_addr().unwrap();
    drop(port);
    assert_eq!(look(address, None).await.mode, Mode::Unreachable(Reason::Refused));
    let silent = TestNode::start(Face::Silent).await;
    assert_eq!(look(silent.address, None).await.mode, Mode::Unreachable(Reason::Silent));
    let babbling = TestNode::start(Face::Babbling).await;
    let mode = look(babbling.address, None).await.mode;
    assert!(matches!(mode, Mode::NotTalos(_)), "{mode:?}");
}
