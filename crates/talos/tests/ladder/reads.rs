//! Every question of the client, before the bootstrap and after it.

use std::time::Duration;

use events::Role as NodeRole;
use talos::client::{Client, Diagnostic, Happened, Member, Reason, Seen, Since, Stage};
use talos::config::MachineConfig;
use talos::config::patch::Patch;

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};
use crate::on_every_version;

on_every_version! {
    before_the_bootstrap, after_the_bootstrap, a_node_lists_itself,
    a_node_tells_what_it_finds_wrong_with_itself, a_watch_sees_the_machine_change,
    the_log_of_apid_says_what_we_sent, a_split_brain_is_seen,
}

const SOME_TIME: Duration = Duration::from_secs(3);

async fn before_the_bootstrap(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.authenticated("cp-1").await;
    climber.etcd_waits(&client).await;
    assert_eq!(client.static_pods().await.unwrap(), []);
    assert_eq!(client.node_status().await.unwrap(), None);
    assert_eq!(client.diagnostics().await.unwrap(), []);
    let status = client.machine_status().await.unwrap();
    assert_eq!((status.stage, status.ready), (Stage::Booting, false));
    assert!(status.unmet.iter().any(|unmet| unmet.reason.contains("etcd not running")));
    // A kubeconfig is made of the config alone, and proves nothing.
    let kubeconfig = client.kubeconfig().await.unwrap();
    assert!(kubeconfig.yaml().reveal().contains(&format!("https://{address}:6443")));
    assert!(climber.ground.kubernetes_answers(&kubeconfig).is_err());
}

async fn after_the_bootstrap(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (_, client) = climber.bootstrapped("cp-1").await;
    let services = client.service_list().await.unwrap();
    let names: Vec<_> = services.iter().map(|service| service.id.as_str()).collect();
    for name in ["apid", "containerd", "cri", "etcd", "kubelet", "machined", "trustd"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert!(services.iter().find(|service| service.id == "etcd").unwrap().is_well());
    assert!(!client.service_log("etcd", 50).await.unwrap().is_empty());
    let error = client.service_log("no-such-service", 50).await.unwrap_err();
    let said = "log \"no-such-service\" was not registered".to_owned();
    assert_eq!(error.reason, Reason::NotFound(said));
    let kernel = client.kernel_log().await.unwrap();
    assert!(kernel.lines().count() > 5, "{kernel}");

    let happened = all_that_happened(&client).await;
    let etcd_runs = |what: &Happened| matches!(what, Happened::Service { service, state, .. } if service == "etcd" && state == "RUNNING");
    assert!(happened.iter().any(etcd_runs), "{happened:?}");
    let booting =
        |what: &Happened| matches!(what, Happened::Machine { stage, .. } if stage == "BOOTING");
    assert!(happened.iter().any(booting), "{happened:?}");
    let began = |what: &Happened| matches!(what, Happened::Began(name) if name == "boot");
    assert!(happened.iter().any(began), "{happened:?}");
}

/// Nobody is asked for the others: Kubernetes would be, and is not there. Where
/// discovery is off, a node does not even list itself.
async fn a_node_lists_itself(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let discovery = |is_on: bool| {
        let registries = "kubernetes: {disabled: false}, service: {disabled: true}";
        format!("cluster: {{discovery: {{enabled: {is_on}, registries: {{{registries}}}}}}}")
    };
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let [on, off] = [true, false].map(|is_on| with(&config, &discovery(is_on)));
    let client = api(address).maintenance(None).await.unwrap();
    climber.apply(&client, &on).await.unwrap();
    let client = climber.admin(address).await;
    let itself = Member {
        hostname: "cp-1".to_owned(),
        machine_type: "controlplane".to_owned(),
        operating_system: format!("Talos ({})", climber.ground.release().talos),
        addresses: vec![address.to_string()],
    };
    let lists = async |expected: &[Member]| {
        until("the members", async || {
            let members = client.members().await.unwrap();
            if members == expected { Ok(()) } else { Err(members) }
        })
        .await;
    };
    lists(&[itself]).await;
    climber.apply(&client, &off).await.unwrap();
    lists(&[]).await;
}

/// Pods are to have the addresses that the node has. Talos leaves those out of
/// its certificate, unless the config names them.
async fn a_node_tells_what_it_finds_wrong_with_itself(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let [a, b, c, _] = address.octets();
    let pods = format!("{a}.{b}.{c}.0/24");
    let overlap = format!("cluster: {{network: {{podSubnets: [{pods}]}}}}");
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let config = with(&config, &format!("machine: {{certSANs: [{address}]}}\n{overlap}"));
    let client = api(address).maintenance(None).await.unwrap();
    climber.apply(&client, &config).await.unwrap();
    let client = climber.admin(address).await;
    let found = until("a diagnostic", async || {
        let found = client.diagnostics().await.unwrap();
        if found.is_empty() { Err("it finds nothing") } else { Ok(found) }
    })
    .await;
    let details = [
        format!("host routed addresses: [\"{address}/24\"]"),
        format!("Kubernetes pod CIDRs: [\"{pods}\"]"),
        "Kubernetes service CIDRs: [\"10.96.0.0/12\"]".to_owned(),
    ];
    let expected = Diagnostic {
        id: "address-overlap".to_owned(),
        message: "host and Kubernetes pod/service CIDR addresses overlap".to_owned(),
        details: details.into(),
    };
    assert_eq!(found, [expected]);
}

fn with(config: &MachineConfig, patch: &str) -> MachineConfig {
    config.patched(&[Patch::read("a patch", patch).unwrap()]).unwrap()
}

async fn all_that_happened(client: &Client) -> Vec<Happened> {
    let mut happenings = client.happenings(Since::TheBeginning, SOME_TIME).await.unwrap();
    let (mut happened, mut ids) = (Vec::new(), Vec::new());
    while let Some(happening) = happenings.next().await.unwrap() {
        ids.push(happening.id);
        happened.push(happening.what);
    }
    assert!(ids.is_sorted(), "{ids:?}");
    happened
}

/// The first thing that a watch tells is how it is now; it ends in time.
async fn a_watch_sees_the_machine_change(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.authenticated("cp-1").await;
    let patience = Duration::from_mins(3);
    let mut watch = client.watch_machine_status(patience).await.unwrap();
    let Some(Seen::Now(status)) = watch.next().await.unwrap() else { panic!("nothing is there") };
    assert_eq!(status.stage, Stage::Booting);
    climber.start_etcd(address).await;
    loop {
        let seen = watch.next().await.unwrap().expect("three minutes are enough");
        if matches!(seen, Seen::Now(status) if status.stage == Stage::Running) {
            break;
        }
    }
    let mut short = client.watch_machine_status(Duration::from_millis(50)).await.unwrap();
    while short.next().await.unwrap().is_some() {}
}

/// The node itself says which calls came, from whom, and what it answered. It
/// does so a moment later.
async fn the_log_of_apid_says_what_we_sent(ground: Ground) {
    let mut climber = Climber::new(ground);
    let (address, client) = climber.bootstrapped("cp-1").await;
    client.etcd_members().await.unwrap();
    let reader = climber.identity(talos::credentials::Role::Reader);
    let reader = api(address).authenticated(&reader).await.unwrap();
    climber.bootstrap(&reader, "as a reader").await.unwrap_err();
    let log = until("the calls in the log", async || {
        let log = client.service_log("apid", 2_000).await.unwrap();
        let sent = [
            "OK [/machine.MachineService/ServiceList]",
            "OK [/machine.MachineService/EtcdMemberList]",
            "OK [/cosi.resource.State/Get]",
            "PermissionDenied [/machine.MachineService/Bootstrap]",
        ];
        if sent.iter().all(|call| log.contains(call)) { Ok(log) } else { Err(log) }
    })
    .await;
    // What is never to be sent twice was not, and the config neither.
    let once = |call: &str| {
        let mut lines = log.lines().filter(|line| line.contains(call));
        let line = lines.next().unwrap_or_else(|| panic!("no {call}: {log}"));
        assert_eq!(lines.next(), None, "{address}: {log}");
        assert!(line.contains("user-agent=seaworthy/"), "{line}");
        line
    };
    let config = "OK [/machine.MachineService/ApplyConfiguration]";
    if climber.ground.release().is_of_the_old_dialect() {
        assert!(!log.contains(config), "machined itself serves maintenance mode: {log}");
    } else {
        once(config);
    }
    assert!(once("OK [/machine.MachineService/Bootstrap]").contains("as [os:admin]"), "{log}");
    let denied = once("PermissionDenied [/machine.MachineService/Bootstrap]");
    assert!(denied.contains("as [os:reader]"), "{denied}");
    let secrets = climber.bundle.secrets();
    assert!(secrets.iter().all(|(_, secret)| !log.contains(secret.reveal())));
}

/// Two nodes of one config, each with an etcd of its own: each says that it is
/// alone and leads, and only both answers together tell.
async fn a_split_brain_is_seen(ground: Ground) {
    let mut climber = Climber::new(ground);
    let first = climber.machine("cp-1").await;
    let second = climber.machine("cp-2").await;
    for (address, name) in [(first, "cp-1"), (second, "cp-2")] {
        let config = climber.config(first, name, NodeRole::ControlPlane);
        let client = api(address).maintenance(None).await.unwrap();
        climber.apply(&client, &config).await.unwrap();
    }
    let clients = if let Ground::Simulated(simulated) = &climber.ground {
        simulated.node(second).turn(|knobs| knobs.own_etcd = true);
        [climber.start_etcd(first).await, climber.admin(second).await]
    } else {
        // Neither is there yet when the other one is asked for.
        tokio::join!(climber.start_etcd(first), climber.start_etcd(second)).into()
    };
    let mut leaders = Vec::new();
    for client in &clients {
        let members = until("its etcd", async || client.etcd_members().await).await;
        let status = client.etcd_status().await.unwrap();
        assert_eq!(members.len(), 1, "{members:?}");
        assert_eq!((status.member, status.leader), (members[0].id, Some(members[0].id)));
        leaders.push((members[0].id, members[0].hostname.clone()));
    }
    assert_ne!(leaders[0].0, leaders[1].0, "one etcd would have one leader");
    assert_eq!((leaders[0].1.as_str(), leaders[1].1.as_str()), ("cp-1", "cp-2"));
}
