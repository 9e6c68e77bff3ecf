//! What holds for every call of the client: it has a deadline that the node is
//! told, a failure inside a good answer is a failure, and a refusal is one.

use std::pin::Pin;
use std::time::Duration;

use events::{Arrival, Class};
use talos::client::{
    Afterwards, Apply, Bootstrap, Client, ClientError, Keeper, Node, Pull, Reason, Reboot, Reset,
    Since, Upgrade,
};
use talos::credentials::{Identity, Role};
use tokio::time::Instant;
use tonic::{Code, Status};

use crate::answers::Inner;
use crate::config::machine_config;
use crate::node::{Face, TestNode, short};
use crate::permits::Permits;
use crate::sample::{bundle, now, rng};

type Answer = Result<(), ClientError>;
type Call = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// How many calls there are that only ask.
const QUESTIONS: usize = 18;

/// Returns one of each call; those to `machine.MachineService` come first.
async fn calls(client: &Client, permits: &Permits) -> Vec<(&'static str, Call)> {
    macro_rules! ask {
        ($name:ident $(, $argument:expr)*) => {{
            let client = client.clone();
            let call: Call = Box::pin(async move { client.$name($($argument),*).await.map(drop) });
            (stringify!($name), call)
        }};
    }
    macro_rules! change {
        ($name:ident, $change:expr) => {{
            let client = client.clone();
            let permit = permits.for_call($change.call()).await;
            let call: Call =
                Box::pin(async move { client.$name(permit, &$change).await.map(drop) });
            (stringify!($name), call)
        }};
    }
    const TARGET: &str = "server 4711";
    const IMAGE: &str = "registry.k8s.io/pause:3.10.2";
    const PATIENCE: Duration = Duration::from_secs(9);
    let config = machine_config(&bundle(1));
    let upgrade = Upgrade { target: "server 4712", image: IMAGE };
    let reset = Reset { target: TARGET, graceful: true, afterwards: Afterwards::Halt };
    vec![
        ask!(version),
        ask!(service_list),
        ask!(kubeconfig),
        ask!(etcd_members),
        ask!(etcd_status),
        ask!(service_log, "apid", 10),
        ask!(kernel_log),
        change!(apply_configuration, Apply { target: TARGET, config: &config }),
        change!(bootstrap, Bootstrap { target: TARGET }),
        change!(reset, reset),
        change!(reboot, Reboot { target: TARGET }),
        change!(upgrade, upgrade),
        ask!(machine_status),
        ask!(wanted_images),
        ask!(platform_metadata),
        ask!(links),
        ask!(disks),
        ask!(members),
        ask!(diagnostics),
        ask!(static_pods),
        ask!(node_status),
        ask!(happenings, Since::Now, PATIENCE),
        ask!(watch_machine_status, PATIENCE),
        change!(pull_image, Pull { target: TARGET, image: IMAGE, keeper: Keeper::Talos }),
        change!(install_version, Upgrade { target: TARGET, image: IMAGE }),
    ]
}

async fn connected(test: &TestNode) -> Client {
    let admin = Identity::talos(&bundle(1), Role::Admin, now(), &mut rng(5)).unwrap();
    let node = Node { address: test.address, deadlines: short() };
    node.authenticated(&admin).await.unwrap()
}

/// Of a pull that has not ended it is told that the image is not there.
fn is_late(name: &str, reason: &Reason) -> bool {
    match name {
        "pull_image" => matches!(reason, Reason::PullFailed(why) if why.ends_with("00ms")),
        _ => *reason == Reason::Deadline,
    }
}

/// Makes the calls together and returns what came of each.
async fn all(calls: Vec<(&'static str, Call)>) -> Vec<(&'static str, ClientError)> {
    let tasks = calls.into_iter().map(|(name, call)| (name, tokio::spawn(call)));
    let mut answers = Vec::new();
    for (name, task) in tasks.collect::<Vec<_>>() {
        answers.push((name, task.await.unwrap().expect_err(name)));
    }
    answers
}

#[tokio::test]
async fn none_waits_for_ever_and_the_node_is_told() {
    let bundle = bundle(1);
    let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
    test.set(|script| script.hang = true);
    let client = connected(&test).await;
    let calls = calls(&client, &permits).await;
    let (count, began) = (calls.len(), Instant::now());
    for (name, error) in all(calls).await {
        assert!(is_late(name, &error.reason), "{name}: {error:?}");
        assert_eq!(error.class(), Class::Transient, "{name}");
        assert_eq!(error.arrival, Arrival::Maybe, "{name}");
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    // The script insists that each has said its deadline.
    assert_eq!(test.script.lock().unwrap().asked.len(), count);
}

/// The gRPC library's own deadline ends with the head of an answer.
#[tokio::test]
async fn none_waits_for_ever_where_only_the_head_of_an_answer_comes() {
    let bundle = bundle(1);
    let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
    let client = connected(&test).await;
    test.set(|script| script.stall = true);
    let mut calls = calls(&client, &permits).await;
    // These begin with the head, and end with their own patience.
    calls.retain(|(name, _)| !["happenings", "watch_machine_status"].contains(name));
    let began = Instant::now();
    for (name, error) in tokio::time::timeout(Duration::from_secs(20), all(calls)).await.unwrap() {
        assert!(is_late(name, &error.reason), "{name}: {error:?}");
        assert_eq!(error.class(), Class::Transient, "{name}");
        assert_eq!(error.arrival, Arrival::Maybe, "{name}");
    }
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

/// Whoever gives up waiting for a change has not taken it back.
#[tokio::test]
async fn a_change_that_nobody_waits_for_is_still_carried_out() {
    let bundle = bundle(1);
    let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
    let client = connected(&test).await;
    let config = machine_config(&bundle);
    let apply = Apply { target: "server 4711", config: &config };
    let permit = permits.for_call(apply.call()).await;
    let mut call = Box::pin(client.apply_configuration(permit, &apply));
    // Polled once, so that it has begun, and dropped.
    assert!(tokio::time::timeout(Duration::ZERO, &mut call).await.is_err());
    drop(call);
    let began = Instant::now();
    while test.script.lock().unwrap().applied.is_none() {
        assert!(began.elapsed() < Duration::from_secs(10), "the config never came");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_failure_inside_a_good_answer_is_a_failure() {
    const SAID: &str = "no connection to the node";
    let unavailable = Some((Code::Unavailable, SAID));
    let rows = [
        // As apid tells it.
        (unavailable, SAID, Code::Unavailable),
        (unavailable, "", Code::Unavailable),
        (None, SAID, Code::Unknown),
        (Some((Code::Ok, "")), SAID, Code::Unknown),
    ];
    let bundle = bundle(1);
    for (status, error, code) in rows {
        let inner = Inner { status, error };
        let expected = match code {
            Code::Unavailable => Reason::Unavailable(SAID.to_owned()),
            _ => Reason::Status { code, message: SAID.to_owned() },
        };
        let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
        test.set(|script| {
            script.inner = Some(inner);
            script.archive = vec![0; 300];
        });
        let client = connected(&test).await;
        let mut calls = calls(&client, &permits).await;
        // Only this service has messages with a node's failure in them.
        calls.truncate(12);
        for (name, error) in all(calls).await {
            assert_eq!(error.reason, expected, "{name}, told by {inner:?}");
        }
        let mut happenings = client.happenings(Since::Now, Duration::from_secs(3)).await.unwrap();
        let error = happenings.next().await.unwrap_err();
        assert_eq!(error.reason, expected, "told by {inner:?}");
    }
}

#[tokio::test]
async fn a_refusal_has_changed_nothing() {
    let bundle = bundle(1);
    let (test, permits) = (TestNode::start(Face::Configured(&bundle)).await, Permits::new());
    test.set(|script| script.status = Some(Status::permission_denied("not authorized")));
    let client = connected(&test).await;
    let calls = calls(&client, &permits).await;
    let questions = calls.len() - 7;
    assert_eq!(questions, QUESTIONS);
    for (name, error) in all(calls).await {
        let denied = Reason::PermissionDenied("not authorized".to_owned());
        assert_eq!((&error.reason, error.arrival), (&denied, Arrival::No), "{name}");
        assert_eq!(error.class(), Class::Permanent, "{name}");
    }
}
