//! Every wrong move, and the class of what comes of it.

use std::net::Ipv4Addr;
use std::time::Duration;

use events::{Arrival, Class, Role as NodeRole};
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, Issuer, KeyPair,
    KeyUsagePurpose,
};
use talos::client::{Client, Deadlines, Node, Reason};
use talos::config::MachineConfig;
use talos::config::patch::Patch;
use talos::credentials::{Identity, Role};
use talos::pki::{Certificate, PrivateKey};
use talos::probe::{Mode, Owner, probe};
use talos::secrets::Bundle;

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};
use crate::on_both_grounds;
use crate::release::Release;
use crate::sample::{bundle, now, rng};

on_both_grounds! {
    moves_in_maintenance_mode, moves_without_the_right_certificate, moves_before_the_bootstrap,
    the_same_move_twice, moves_at_the_wrong_time, moves_with_a_certificate_for_something_else,
}

async fn moves_in_maintenance_mode(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let admin = climber.identity(Role::Admin);
    let error = api(address).prove_admin(&admin).await.unwrap_err();
    assert!(matches!(error.reason, Reason::StillInMaintenance { .. }), "{error:?}");
    assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));

    let client = api(address).maintenance(None).await.unwrap();
    let denied = climber.bootstrap(&client, "too early").await.unwrap_err();
    assert_eq!(denied.reason, Reason::PermissionDenied("not authorized".to_owned()));
    wrong_configs(&climber, address, &client).await;
    let sighting = probe(api(address).address, None, Duration::from_secs(5)).await;
    assert_eq!(sighting.mode, Mode::Maintenance, "nothing has changed");
}

/// Up to 1.12, a config that cannot be read is told with another code than one
/// that is wrong.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_node_refuses_wrong_configs_as_new_ones_do() {
    let mut climber = Climber::new(Ground::simulated_of(Release::V1_12));
    let address = climber.machine("cp-1").await;
    let client = api(address).maintenance(None).await.unwrap();
    wrong_configs(&climber, address, &client).await;
    api(address).maintenance(None).await.expect("nothing has changed");
}

async fn wrong_configs(climber: &Climber, address: Ipv4Addr, client: &Client) {
    let garbage =
        MachineConfig::from_yaml(events::Secret::new("machine: {unheard: of}\n".to_owned()));
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let patched = |patch| config.patched(&[Patch::read("a patch", patch).unwrap()]).unwrap();
    let misspelt = patched("machine: {kubelet: {pullSecret: {password: hunter22}}}");
    let nowhere = patched("cluster: {controlPlane: {endpoint: 'https://:6443'}}");
    for (config, named) in [
        (&garbage, "machine.unheard"),
        // The node repeats what stood under the misspelt key; we do not.
        (&misspelt, "machine.kubelet.pullSecret.password"),
        (&nowhere, "endpoint"),
    ] {
        let error = climber.apply(client, config).await.unwrap_err();
        assert!(matches!(error.reason, Reason::InvalidConfig(_)), "{error:?}");
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
        let told = format!("{error:?} {}", error.failure());
        assert!(told.contains(named), "{told}");
        assert!(!told.contains("hunter22"), "{told}");
    }
}

async fn moves_without_the_right_certificate(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, _) = climber.authenticated("cp-1").await;
    let error = api(address).maintenance(None).await.unwrap_err();
    assert_eq!(error.reason, Reason::CertificateRequired);
    assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));

    let foreign = bundle(2);
    let stranger = Identity::talos(&foreign, Role::Admin, now(), &mut rng(6)).unwrap();
    let error = api(address).authenticated(&stranger).await.unwrap_err();
    assert!(matches!(error.reason, Reason::OtherAuthority(_)), "{error:?}");
    assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    let sighting =
        probe(api(address).address, Some(foreign.os.certificate()), Duration::from_secs(5)).await;
    assert_eq!(sighting.mode, Mode::Configured(Owner::Somebody));
    // Who trusts the node all the same is told by the node.
    let trusting = Identity::of(
        climber.bundle.os.certificate().clone(),
        stranger.certificate().clone(),
        stranger.key().clone(),
    );
    let error = api(address).authenticated(&trusting.unwrap()).await.unwrap_err();
    assert_eq!(error.reason, Reason::UnknownCa);
    assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));

    let reader = api(address).authenticated(&climber.identity(Role::Reader)).await.unwrap();
    reader.version().await.unwrap();
    reader.service_list().await.unwrap();
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    for error in [
        climber.apply(&reader, &config).await.unwrap_err(),
        climber.bootstrap(&reader, "as a reader").await.unwrap_err(),
        reader.kubeconfig().await.unwrap_err(),
        api(address).prove_admin(&climber.identity(Role::Reader)).await.unwrap_err(),
    ] {
        assert_eq!(error.reason, Reason::PermissionDenied("not authorized".to_owned()));
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    }
}

/// A certificate of the right authority that holds no more, or not yet.
async fn moves_at_the_wrong_time(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, _) = climber.authenticated("cp-1").await;
    let year = jiff::SignedDuration::from_hours(366 * 24);
    for (at, seed) in [(now() - year, 7), (now() + year, 8)] {
        let late = Identity::talos(&climber.bundle, Role::Admin, at, &mut rng(seed)).unwrap();
        let error = api(address).authenticated(&late).await.unwrap_err();
        assert!(matches!(error.reason, Reason::BadCertificate(_)), "{error:?}");
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    }
}

/// Of the right authority and with the right role, but not for clients, or not
/// for them alone.
async fn moves_with_a_certificate_for_something_else(ground: Ground) {
    use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
    let mut climber = Climber::new(ground);
    let (address, _) = climber.authenticated("cp-1").await;
    for purposes in [vec![ServerAuth], vec![ServerAuth, ClientAuth], vec![]] {
        let odd = with_purposes(&climber.bundle, purposes.clone());
        let error = api(address).authenticated(&odd).await.unwrap_err();
        let refused = Reason::BadCertificate("BadCertificate".to_owned());
        assert_eq!(error.reason, refused, "{purposes:?}");
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    }
    let alone = with_purposes(&climber.bundle, vec![ClientAuth]);
    api(address).prove_admin(&alone).await.expect("only the purpose was wrong");
}

/// Our own code signs for clients only, so this is by hand.
fn with_purposes(bundle: &Bundle, purposes: Vec<ExtendedKeyUsagePurpose>) -> Identity {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, Role::Admin.as_str());
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = purposes;
    params.use_authority_key_identifier_extension = true;
    let authority = bundle.os.certificate();
    let signing = KeyPair::from_pem(bundle.os.key().pem().reveal()).unwrap();
    let issuer = Issuer::from_ca_cert_der(&authority.der().into(), signing).unwrap();
    let key = PrivateKey::ed25519(&mut rng(9));
    let pair = KeyPair::from_pem(key.pem().reveal()).unwrap();
    let signed = params.signed_by(&pair, &issuer).unwrap();
    let certificate = Certificate::from_der(signed.der()).unwrap();
    Identity::of(authority.clone(), certificate, key).unwrap()
}

/// There is no etcd that could answer, and no answer either.
async fn moves_before_the_bootstrap(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, _) = climber.authenticated("cp-1").await;
    let read = Duration::from_secs(1);
    let node = Node { deadlines: Deadlines { read, ..Deadlines::default() }, ..api(address) };
    let client = node.authenticated(&climber.identity(Role::Admin)).await.unwrap();
    let began = tokio::time::Instant::now();
    let error = client.etcd_members().await.unwrap_err();
    assert_eq!((&error.reason, error.class()), (&Reason::Deadline, Class::Transient));
    assert!(began.elapsed() < 3 * read, "{:?}", began.elapsed());
    let error = client.etcd_status().await.unwrap_err();
    assert_eq!(error.class(), Class::Transient, "{}", error.failure());
    client.version().await.expect("the connection is as good as before");
}

async fn the_same_move_twice(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.bootstrapped("cp-1").await;
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    climber.apply(&client, &config).await.expect("the same config twice is the same as once");
    until("an administrator as before", async || {
        api(address).prove_admin(&climber.identity(Role::Admin)).await
    })
    .await;
    let error = climber.bootstrap(&client, "a second time").await.unwrap_err();
    assert_eq!(error.reason, Reason::AlreadyBootstrapped);
    assert_eq!((error.class(), error.arrival), (Class::Conflict, Arrival::No));
    assert_eq!(client.etcd_members().await.unwrap().len(), 1, "etcd lives on");
}
