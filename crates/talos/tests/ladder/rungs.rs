//! The rungs, each alone.

use std::time::Duration;

use events::{Arrival, Class, Role as NodeRole};
use talos::client::{Client, Reason, Stage};
use talos::pki::SpkiHash;
use talos::probe::probe;
use tokio::time::Instant;

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};
use crate::on_every_version;
use crate::release::Release;

on_every_version! {
    api_reachable, apply_to_one_node, authenticated, single_node_bootstrap, multi_node,
}

/// Without any secret: which mode, which certificate, what the machine is.
async fn api_reachable(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let node = api(address);
    let sighting = probe(node.address, None, Duration::from_secs(5)).await;
    let shown = sighting.certificate.unwrap();
    assert_eq!(shown.common_name.as_deref(), Some("maintenance-service.talos.dev"));
    assert_eq!((shown.issuer.as_str(), shown.key.as_str()), ("", "Ed25519"));
    assert!(!sighting.asks_for_certificate);

    let client = node.maintenance(Some(shown.spki)).await.unwrap();
    maintenance_tells_its_version(&client, climber.ground.release()).await;
    let status = client.machine_status().await.unwrap();
    assert_eq!((status.stage, status.ready, status.unmet), (Stage::Maintenance, true, vec![]));
    assert!(client.links().await.unwrap().iter().any(|link| link.name == "eth0"));
    client.disks().await.unwrap();
    assert!(!client.platform_metadata().await.unwrap().platform.is_empty());

    let other = SpkiHash::of(b"another key");
    let error = node.maintenance(Some(other)).await.unwrap_err();
    assert!(matches!(error.reason, Reason::OtherFingerprint { .. }), "{error:?}");
    assert_eq!(error.class(), Class::Permanent);
}

/// Up to 1.12 maintenance mode has a server of its own, which does not tell.
async fn maintenance_tells_its_version(client: &Client, release: Release) {
    let version = client.version().await;
    if release.is_of_the_old_dialect() {
        let error = version.unwrap_err();
        let said = "API is not implemented in maintenance mode".to_owned();
        assert_eq!(
            (&error.reason, error.class()),
            (&Reason::Unimplemented(said), Class::Permanent)
        );
    } else {
        assert_eq!(version.unwrap().tag, release.talos);
    }
}

async fn apply_to_one_node(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let client = api(address).maintenance(None).await.unwrap();
    let applied = climber.apply(&client, &config).await.unwrap();
    assert_eq!(applied.details, climber.ground.release().says_to_its_first_config());
    climber.left_maintenance(api(address)).await;
}

/// What the API answers meanwhile passes by itself, and is said to.
async fn authenticated(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.configured("cp-1").await;
    let since = Instant::now();
    let admin = climber.identity(talos::credentials::Role::Admin);
    let proof = until("an administrator", async || {
        let proof = api(address).prove_admin(&admin).await;
        proof.map_err(|error| {
            let known = matches!(
                error.reason,
                Reason::StillInMaintenance { .. } | Reason::PermissionDenied(_)
            );
            assert!(known || error.class() == Class::Transient, "{}", error.failure());
        })
    })
    .await;
    climber.ground.took("an administrator after the apply", since);
    assert!(proof.certificate.is_signed_by(climber.bundle.os.certificate()));
    let client = api(address).authenticated(&admin).await.unwrap();
    assert_eq!(client.version().await.unwrap().tag, climber.ground.release().talos);
    assert_ne!(client.machine_status().await.unwrap().stage, Stage::Maintenance);
}

async fn single_node_bootstrap(ground: Ground) {
    let mut climber = Climber::new(ground);
    let began = Instant::now();
    let (address, client) = climber.authenticated("cp-1").await;
    climber.begin_etcd(&client).await;
    let bootstrapped = Instant::now();
    climber.etcd_is_sound(&client).await;
    let members = client.etcd_members().await.unwrap();
    assert_eq!(members.len(), 1);
    assert_eq!((members[0].hostname.as_str(), members[0].is_learner), ("cp-1", false));
    let status = client.etcd_status().await.unwrap();
    assert_eq!((status.member, status.leader), (members[0].id, Some(members[0].id)));
    assert_eq!(status.errors, Vec::<String>::new());

    let kubeconfig = client.kubeconfig().await.unwrap();
    assert!(kubeconfig.yaml().reveal().contains(&format!("https://{address}:6443")));
    until("the Kubernetes API", async || climber.ground.kubernetes_answers(&kubeconfig)).await;
    climber.ground.took("the Kubernetes API after the bootstrap", bootstrapped);
    climber.ground.took("the Kubernetes API after the machine was switched on", began);
    until("static pods", async || {
        let pods = client.static_pods().await.map_err(|error| error.to_string())?;
        let ready = pods.len() == 3 && pods.iter().all(|pod| pod.ready);
        if ready { Ok(()) } else { Err(format!("{pods:?}")) }
    })
    .await;
    // Nobody has given the pods a network, and nothing else is missing.
    let status = until("the last condition", async || {
        let _ = climber.ground.kubernetes_answers(&kubeconfig);
        let status = client.machine_status().await.map_err(|error| error.to_string())?;
        let last = status.unmet.len() == 1 && status.unmet[0].name == "nodeReady";
        if last { Ok(status) } else { Err(format!("{status:?}")) }
    })
    .await;
    assert_eq!((status.stage, status.ready), (Stage::Running, false));
    let node = until("the node in Kubernetes", async || {
        client.node_status().await.unwrap().ok_or("it has not joined")
    })
    .await;
    assert_eq!((node.name.as_str(), node.ready), ("cp-1", false));
}

/// A worker is closed until a control plane has signed its certificate; a
/// second control plane joins by itself.
async fn multi_node(ground: Ground) {
    let mut climber = Climber::new(ground);
    let [first, second, worker] = [
        climber.machine("cp-1").await,
        climber.machine("cp-2").await,
        climber.machine("w-1").await,
    ];
    let configs = [
        (worker, climber.config(first, "w-1", NodeRole::Worker)),
        (second, climber.config(first, "cp-2", NodeRole::ControlPlane)),
    ];
    for (address, config) in &configs {
        let client = api(*address).maintenance(None).await.unwrap();
        climber.apply(&client, config).await.unwrap();
    }
    let admin = climber.identity(talos::credentials::Role::Admin);
    until("the worker's port closes", async || {
        let error = api(worker).prove_admin(&admin).await.unwrap_err();
        if error.reason == Reason::Refused { Ok(()) } else { Err(error.reason) }
    })
    .await;
    let config = climber.config(first, "cp-1", NodeRole::ControlPlane);
    let client = api(first).maintenance(None).await.unwrap();
    climber.apply(&client, &config).await.unwrap();
    let client = climber.start_etcd(first).await;
    let other = climber.admin(second).await;
    let members = until("two voting members", async || {
        let members = other.etcd_members().await.map_err(|error| error.reason)?;
        let voting = members.iter().filter(|member| !member.is_learner).count();
        if voting == 2 { Ok(members) } else { Err(Reason::Nonsense(format!("{members:?}"))) }
    })
    .await;
    assert_eq!(client.etcd_members().await.unwrap().len(), members.len());

    let client = climber.admin(worker).await;
    let bootstrap = climber.ground.release().says_to_a_bootstrap_of_a_worker();
    for (error, words) in [
        (client.etcd_members().await.unwrap_err(), "is only available on control plane nodes"),
        (client.kubeconfig().await.unwrap_err(), "is only available on control plane nodes"),
        (climber.bootstrap(&client, "the worker").await.unwrap_err(), bootstrap),
    ] {
        let Reason::Unimplemented(said) = &error.reason else { panic!("{}", error.failure()) };
        assert!(said.ends_with(words), "{said}");
        assert_eq!((error.class(), error.arrival), (Class::Permanent, Arrival::No));
    }
}
