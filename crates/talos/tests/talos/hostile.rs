//! A node that has the right certificate and means us no good.

use std::time::Duration;

use talos::client::{Client, ClientError, Deadlines, Node, Reason};
use talos::credentials::{Identity, Role};
use talos::secrets::Bundle;

use crate::answers::Hostile;
use crate::node::{Face, TestNode};
use crate::sample::{bundle, now, rng};

async fn client(bundle: &Bundle, hostile: Hostile, read: Duration) -> (TestNode, Client) {
    let node = TestNode::start(Face::Configured(bundle)).await;
    node.set(|script| script.hostile = Some(hostile));
    let deadlines = Deadlines { read, ..Deadlines::default() };
    let at = Node { address: node.address, deadlines };
    let client = at
        .authenticated(&Identity::talos(bundle, Role::Admin, now(), &mut rng(5)).unwrap())
        .await
        .unwrap();
    (node, client)
}

const PATIENT: Duration = Duration::from_mins(1);

fn nonsense(error: ClientError) -> String {
    match error.reason {
        Reason::Nonsense(what) => what,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn talos_gives_up_a_list_without_end() {
    let bundle = bundle(1);
    let small = Hostile::Endless { size: 10, pause: None };
    let (_node, client) = client(&bundle, small, PATIENT).await;
    let told = nonsense(client.links().await.unwrap_err());
    assert_eq!(told, "a stream of more than 10000 messages");
}

#[tokio::test]
async fn talos_gives_up_a_list_of_too_many_bytes() {
    let bundle = bundle(1);
    let large = Hostile::Endless { size: 4 << 20, pause: None };
    let (_node, client) = client(&bundle, large, PATIENT).await;
    let told = nonsense(client.links().await.unwrap_err());
    assert_eq!(told, "a stream of more than 64 MiB");
}

#[tokio::test]
async fn talos_refuses_a_message_that_is_too_large() {
    let bundle = bundle(1);
    let (_node, client) = client(&bundle, Hostile::Oversize, PATIENT).await;
    let error = client.machine_status().await.unwrap_err();
    let Reason::Status { message, .. } = &error.reason else { panic!("{error:?}") };
    assert!(message.contains("message length too large"), "{error}");
}

#[tokio::test]
async fn talos_gives_up_a_node_that_drips() {
    let bundle = bundle(1);
    let drip = Hostile::Endless { size: 10, pause: Some(Duration::from_millis(20)) };
    let (_node, client) = client(&bundle, drip, Duration::from_millis(400)).await;
    let error = client.links().await.unwrap_err();
    assert_eq!(error.reason, Reason::Deadline);
    let error = client.service_log("apid", 10).await.unwrap_err();
    assert_eq!(error.reason, Reason::Deadline);
}
