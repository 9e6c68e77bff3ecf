//! The client, against a node that answers over real TLS.

use std::io::Write as _;
use std::time::Duration;

use events::{Arrival, Class};
use talos::client::{
    Afterwards, Apply, Bootstrap, ClientError, Health, Node, Reason, Reset, Stage,
};
use talos::credentials::{Identity, Role};
use talos::pki::SpkiHash;
use talos::secrets::Bundle;
use tonic::{Code, Status};

use crate::config::machine_config;
use crate::node::{CLOCKS_OFF, Face, TestNode, short};
use crate::permits::Permits;
use crate::sample::{bundle, now, rng};

fn node(test: &TestNode) -> Node {
    Node { address: test.address, deadlines: short() }
}

fn admin(bundle: &Bundle) -> Identity {
    Identity::talos(bundle, Role::Admin, now(), &mut rng(5)).unwrap()
}

fn refused(error: ClientError) -> Reason {
    assert_eq!(error.arrival, Arrival::No, "{error:?}");
    error.reason
}

#[tokio::test]
async fn a_node_in_maintenance_mode_is_asked_and_its_fingerprint_recorded() {
    let test = TestNode::start(Face::Maintenance).await;
    let client = node(&test).maintenance(None).await.unwrap();
    let facts = client.certificate().facts();
    assert_eq!(facts.common_name.as_deref(), Some("maintenance-service.talos.dev"));
    assert_eq!((facts.issuer.as_str(), facts.key.as_str()), ("", "Ed25519"));
    let version = client.version().await.unwrap();
    assert_eq!((version.tag.as_str(), version.platform.as_deref()), ("v1.14.1", Some("hcloud")));
    let status = client.machine_status().await.unwrap();
    assert_eq!((status.stage, status.ready), (Stage::Booting, false));
    assert_eq!(status.unmet[0].reason, "etcd not running");
    let platform = client.platform_metadata().await.unwrap();
    assert_eq!((platform.instance_id.as_str(), platform.region.as_str()), ("4711", "fsn1"));
    let links = client.links().await.unwrap();
    assert_eq!(links[0].hardware_address, "96:00:00:01:02:03");
    let cards: Vec<_> = links.iter().map(|link| (link.name.as_str(), link.is_physical())).collect();
    assert_eq!(cards, [("eth0", true), ("bond0", false), ("lo", false)]);
    let disks = client.disks().await.unwrap();
    assert_eq!((disks[0].path.as_str(), disks[0].size), ("/dev/sda", 40_961_572_864));
    // Every question has told the node its deadline.
    assert_eq!(test.script.lock().unwrap().asked.len(), 5);
}

#[tokio::test]
async fn a_pinned_fingerprint_is_kept_to() {
    let test = TestNode::start(Face::Maintenance).await;
    let shown = node(&test).maintenance(None).await.unwrap().certificate().spki();
    node(&test).maintenance(Some(shown)).await.unwrap();
    let other = SpkiHash::of(b"another key");
    let reason = refused(node(&test).maintenance(Some(other)).await.unwrap_err());
    let (expected, seen) = (Box::new(other), Box::new(shown));
    assert_eq!(reason, Reason::OtherFingerprint { expected, seen });
    assert!(test.script.lock().unwrap().asked.is_empty());
}

#[tokio::test]
async fn an_administrator_is_served_and_proven_on_a_new_connection() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    let proof = node(&test).prove_admin(&admin(&bundle)).await.unwrap();
    assert_eq!(proof.config_version, "5");
    assert!(proof.certificate.is_signed_by(bundle.os.certificate()));
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    let services = client.service_list().await.unwrap();
    let well: Vec<_> = services.iter().map(talos::client::Service::is_well).collect();
    assert_eq!(well, [true, false, false]);
    assert_eq!(services[1].health, Health::Unknown);
    assert_eq!(services[2].health, Health::Unhealthy("mount failed".to_owned()));
    assert_eq!(services[0].last_event, "last");
    let members = client.etcd_members().await.unwrap();
    assert_eq!((members[0].id, members[0].hostname.as_str()), (7, "demo-cp-1"));
    assert_eq!(client.etcd_status().await.unwrap().leader, Some(7));
}

/// The seed's failure: a client for maintenance mode on a node that has left it.
#[tokio::test]
async fn no_certificate_on_a_configured_node_is_certificate_required() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    let error = node(&test).maintenance(None).await.unwrap_err();
    assert_eq!(error.to_string(), format!("could not connect at {}", test.address));
    assert_eq!(error.class(), Class::Permanent);
    let reason = refused(error);
    assert_eq!(reason, Reason::CertificateRequired);
    assert_eq!(reason.to_string(), "tls: certificate required");
    assert!(reason.meaning().means.contains("not a mismatch of certificates"));
}

#[tokio::test]
async fn bundles_that_do_not_match_are_told_on_both_sides() {
    let [ours, theirs] = [1, 2].map(bundle);
    let test = TestNode::start(Face::Configured(&theirs)).await;
    let reason = refused(node(&test).authenticated(&admin(&ours)).await.unwrap_err());
    let Reason::OtherAuthority(shown) = reason else { panic!("{reason:?}") };
    assert_eq!(shown.issuer, "O=talos");
    assert_eq!(shown.authority_key_id, theirs.os.certificate().facts().key_id);
    // Trusting the node, with a certificate that it does not know.
    let stranger = admin(&ours);
    let mixed = Identity::of(
        theirs.os.certificate().clone(),
        stranger.certificate().clone(),
        stranger.key().clone(),
    );
    let error = node(&test).authenticated(&mixed.unwrap()).await.unwrap_err();
    assert_eq!(refused(error), Reason::UnknownCa);
}

#[tokio::test]
async fn a_node_still_in_maintenance_mode_is_not_a_mismatch() {
    let test = TestNode::start(Face::Maintenance).await;
    let shown = node(&test).maintenance(None).await.unwrap().certificate().spki();
    let reason = refused(node(&test).authenticated(&admin(&bundle(1))).await.unwrap_err());
    assert_eq!(reason, Reason::StillInMaintenance { spki: shown });
}

/// Its certificate is looked at before its clock: the dates of one that nobody
/// has signed say nothing.
#[tokio::test]
async fn a_node_in_maintenance_mode_is_known_whatever_its_clock_says() {
    for year in CLOCKS_OFF {
        let test = TestNode::start(Face::MaintenanceIn(year)).await;
        let shown = node(&test).maintenance(None).await.unwrap().certificate().spki();
        let reason = refused(node(&test).authenticated(&admin(&bundle(1))).await.unwrap_err());
        assert_eq!(reason, Reason::StillInMaintenance { spki: shown }, "in {year}");
        node(&test).maintenance(Some(shown)).await.unwrap();
    }
}

/// The old server already shows the new certificate: `version` works and
/// proves nothing.
#[tokio::test]
async fn the_window_after_apply_does_not_pass_for_readiness() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Window(&bundle)).await;
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    client.version().await.unwrap();
    let error = node(&test).prove_admin(&admin(&bundle)).await.unwrap_err();
    assert_eq!(error.reason, Reason::PermissionDenied("not authorized".to_owned()));
}

#[tokio::test]
async fn a_certificate_for_another_address_is_told() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Misnamed(&bundle)).await;
    let reason = refused(node(&test).authenticated(&admin(&bundle)).await.unwrap_err());
    assert_eq!(reason, Reason::NotItsAddress(vec!["10.0.64.11".to_owned()]));
}

#[tokio::test]
async fn what_does_not_speak_is_told_apart() {
    let port = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = port.local_addr().unwrap();
    drop(port);
    let nobody = Node { address, deadlines: short() };
    assert_eq!(refused(nobody.maintenance(None).await.unwrap_err()), Reason::Refused);
    let rows = [
        (Face::Closing, vec![Reason::Closed, Reason::Lost(std::io::ErrorKind::ConnectionReset)]),
        (Face::Silent, vec![Reason::Silent]),
        (Face::Babbling, vec![Reason::NotTls]),
    ];
    for (face, reasons) in rows {
        let test = TestNode::start(face).await;
        let reason = refused(node(&test).maintenance(None).await.unwrap_err());
        assert!(reasons.contains(&reason), "{reason:?}");
    }
}

#[tokio::test]
async fn nothing_waits_for_ever() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    test.set(|script| script.hang = true);
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    let error = client.etcd_members().await.unwrap_err();
    assert_eq!(error.reason, Reason::Deadline);
    assert_eq!(error.class(), Class::Transient);
    let permits = Permits::new();
    let bootstrap = Bootstrap { target: "server 4711" };
    let permit = permits.for_call(bootstrap.call()).await;
    let error = client.bootstrap(permit, &bootstrap).await.unwrap_err();
    assert_eq!(error.reason, Reason::Deadline);
    assert_eq!(error.arrival, Arrival::Maybe);
    assert!(test.script.lock().unwrap().asked[1].starts_with("bootstrap "));
}

#[tokio::test]
async fn a_lost_answer_is_in_doubt_and_a_lost_connection_stays_lost() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    test.set(|script| script.drop_connections = true);
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    let permits = Permits::new();
    let [first, second] = ["server 1", "server 2"].map(|target| Bootstrap { target });
    let permit = permits.for_call(first.call()).await;
    let error = client.bootstrap(permit, &first).await.unwrap_err();
    assert_eq!(error.arrival, Arrival::Maybe, "{error:?}");
    assert!(matches!(error.reason, Reason::Closed | Reason::Lost(_)), "{error:?}");
    // Nothing is sent on what is gone, and no new connection is made.
    let permit = permits.for_call(second.call()).await;
    let error = client.bootstrap(permit, &second).await.unwrap_err();
    assert_eq!(error.arrival, Arrival::No, "{error:?}");
    let error = client.version().await.unwrap_err();
    assert!(matches!(error.reason, Reason::Closed | Reason::Lost(_)), "{error:?}");
    assert_eq!(test.script.lock().unwrap().asked.len(), 1);
}

#[tokio::test]
async fn a_config_is_applied_in_the_mode_that_every_version_takes() {
    let (test, permits) = (TestNode::start(Face::Maintenance).await, Permits::new());
    let client = node(&test).maintenance(None).await.unwrap();
    let config = machine_config(&bundle(1));
    let apply = Apply { target: "server 4711", config: &config };
    let permit = permits.for_call(apply.call()).await;
    let applied = client.apply_configuration(permit, &apply).await.unwrap();
    assert_eq!(applied.details, "Applied configuration without a reboot");
    assert_eq!(applied.warnings, ["odd"]);
    let given = test.script.lock().unwrap().applied.take().unwrap();
    assert_eq!(given, (config.yaml().reveal().as_bytes().to_vec(), 1));
    let reset = Reset { target: "server 4711", graceful: true, afterwards: Afterwards::Halt };
    let permit = permits.for_call(reset.call()).await;
    client.reset(permit, &reset).await.unwrap();
}

#[tokio::test]
async fn a_permit_opens_nothing_but_its_own_call() {
    let (test, permits) = (TestNode::start(Face::Maintenance).await, Permits::new());
    let client = node(&test).maintenance(None).await.unwrap();
    let [one, other] = [1, 2].map(|seed| machine_config(&bundle(seed)));
    let permitted = Apply { target: "server 4711", config: &one };
    let permit = permits.for_call(permitted.call()).await;
    let sent = Apply { config: &other, ..permitted };
    let error = client.apply_configuration(permit, &sent).await.unwrap_err();
    assert!(matches!(refused(error), Reason::WrongPermit { .. }));
    assert!(test.script.lock().unwrap().asked.is_empty());
}

/// The answers of real nodes, 1.12 to 1.14, to `Bootstrap` and `ApplyConfiguration`.
#[tokio::test]
async fn answers_have_their_meaning() {
    let said = |words: &str| words.to_owned();
    let not_yet = "bootstrap is not available yet";
    let only = "bootstrap is only available on control plane nodes";
    let old_only = "bootstrap can only be performed on a control plane node";
    let installing = "bootstrap is not allowed during unattended install (phase: installing)";
    let data = "etcd data directory is not empty";
    let another = "another apply configuration is already in progress";
    let reboots = "configuration is already applied and node is rebooting";
    let rows = [
        (
            Code::FailedPrecondition,
            not_yet,
            Reason::NotYetAvailable(said(not_yet)),
            Class::Transient,
            Arrival::No,
        ),
        (
            Code::FailedPrecondition,
            "time is not in sync yet",
            Reason::TimeNotInSync,
            Class::Transient,
            Arrival::No,
        ),
        (
            Code::Unimplemented,
            only,
            Reason::Unimplemented(said(only)),
            Class::Permanent,
            Arrival::No,
        ),
        (
            Code::FailedPrecondition,
            old_only,
            Reason::Unimplemented(said(old_only)),
            Class::Permanent,
            Arrival::No,
        ),
        (Code::AlreadyExists, data, Reason::AlreadyBootstrapped, Class::Conflict, Arrival::No),
        (Code::Unknown, data, Reason::BootstrapWedged, Class::Permanent, Arrival::Maybe),
        (
            Code::Unknown,
            installing,
            Reason::NotYetAvailable(said(installing)),
            Class::Transient,
            Arrival::No,
        ),
        (
            Code::PermissionDenied,
            "not authorized",
            Reason::PermissionDenied(said("not authorized")),
            Class::Permanent,
            Arrival::No,
        ),
        (
            Code::PermissionDenied,
            "no request forwarding",
            Reason::NoForwarding,
            Class::Permanent,
            Arrival::No,
        ),
        (Code::FailedPrecondition, another, Reason::ApplyInProgress, Class::Conflict, Arrival::No),
        (Code::FailedPrecondition, reboots, Reason::Rebooting, Class::Transient, Arrival::No),
        (
            Code::FailedPrecondition,
            "system disk not found",
            Reason::Status {
                code: Code::FailedPrecondition,
                message: said("system disk not found"),
            },
            Class::Permanent,
            Arrival::No,
        ),
        (Code::Unavailable, "x", Reason::Unavailable(said("x")), Class::Transient, Arrival::Maybe),
        (Code::DeadlineExceeded, "x", Reason::Deadline, Class::Transient, Arrival::Maybe),
        (
            Code::Internal,
            "x",
            Reason::Status { code: Code::Internal, message: said("x") },
            Class::Permanent,
            Arrival::Maybe,
        ),
    ];
    let bundle = bundle(1);
    let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    for (number, (code, message, reason, class, arrival)) in rows.into_iter().enumerate() {
        test.set(|script| script.status = Some(Status::new(code, message)));
        let target = number.to_string();
        let bootstrap = Bootstrap { target: &target };
        let permit = permits.for_call(bootstrap.call()).await;
        let error = client.bootstrap(permit, &bootstrap).await.unwrap_err();
        assert_eq!((&error.reason, error.class(), error.arrival), (&reason, class, arrival));
    }
    test.set(|script| script.status = Some(Status::invalid_argument("unknown keys found")));
    let config = machine_config(&bundle);
    let apply = Apply { target: "server 4711", config: &config };
    let permit = permits.for_call(apply.call()).await;
    let error = client.apply_configuration(permit, &apply).await.unwrap_err();
    assert_eq!(refused(error.clone()), Reason::InvalidConfig(said("unknown keys found")));
    assert_eq!(
        error.failure().to_string(),
        format!(
            "could not apply the configuration at {}: the configuration is not valid: unknown keys found",
            test.address
        )
    );
}

fn packed(name: &str, text: &str) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o600);
    header.set_cksum();
    archive.append_data(&mut header, name, text.as_bytes()).unwrap();
    let mut zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zip.write_all(&archive.into_inner().unwrap()).unwrap();
    zip.finish().unwrap()
}

#[tokio::test]
async fn a_kubeconfig_is_unpacked_and_anything_else_refused() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    let client = node(&test).authenticated(&admin(&bundle)).await.unwrap();
    let written = format!("apiVersion: v1\n# {}\n", "x".repeat(500));
    test.set(|script| script.archive = packed("kubeconfig", &written));
    assert_eq!(client.kubeconfig().await.unwrap().yaml().reveal(), written);
    for wrong in [packed("other", &written), b"no archive".to_vec(), Vec::new()] {
        test.set(|script| script.archive = wrong);
        let error = client.kubeconfig().await.unwrap_err();
        assert!(matches!(error.reason, Reason::Nonsense(_)), "{error:?}");
    }
}

#[tokio::test]
async fn many_nodes_are_asked_at_once() {
    let bundle = bundle(1);
    let test = TestNode::start(Face::Configured(&bundle)).await;
    let (node, admin) = (
        Node {
            deadlines: talos::client::Deadlines {
                connect: Duration::from_secs(20),
                ..Default::default()
            },
            ..node(&test)
        },
        admin(&bundle),
    );
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let admin = admin.clone();
        tasks.spawn(async move { node.prove_admin(&admin).await });
    }
    while let Some(proof) = tasks.join_next().await {
        proof.unwrap().unwrap();
    }
}
