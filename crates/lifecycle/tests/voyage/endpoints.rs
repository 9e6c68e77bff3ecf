//! Where kubeconfigs lead, with and without a load balancer: to the endpoint that
//! the nodes were given.

use lifecycle::{CredentialsError, Way};

use crate::harbour::{Harbour, at_hetzner};

/// A cluster of one control plane whose API is reached as `more` says.
async fn harbour(number: &str, more: &str) -> Harbour {
    let control_plane = format!("count: 1, type: cax11, {more}");
    Harbour::of(number, at_hetzner(&control_plane, "", "    cilium: {}\n    hcloud-ccm: {}\n"))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_load_balancer_it_leads_to_the_first_control_plane() {
    let harbour = harbour("7", "loadBalancer: { enabled: false }").await;
    let unmade = harbour.api_server(&Way::Endpoint).await.unwrap_err().to_string();
    assert_eq!(unmade, "the cloud knows no server demo-cp-1 of this cluster with a public address");
    let ran = harbour.up(Some("nodes")).await;
    assert!(ran.is_done, "{}", ran.text);
    let address = harbour.world.node("demo-cp-1").unwrap().facts().address;
    let server = harbour.api_server(&Way::Endpoint).await.unwrap();
    assert_eq!(server, format!("https://{address}:6443"));
    assert_eq!(harbour.api_server(&Way::Node("demo-cp-1".to_owned())).await.unwrap(), server);
    let asked = harbour.api_server(&Way::LoadBalancer).await.unwrap_err();
    assert_eq!(asked.to_string(), "the cluster file asks for no load balancer");
    let CredentialsError::NoLoadBalancer { there } = asked else { panic!("{asked:?}") };
    assert_eq!(there, ["demo-cp-1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_needs_no_load_balancer() {
    let file = "hostname: api.example.com, loadBalancer: { enabled: false }";
    let server = harbour("8", file).await.api_server(&Way::Endpoint).await.unwrap();
    assert_eq!(server, "https://api.example.com:6443");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_load_balancer_has_its_planned_address() {
    let harbour = harbour("9", "loadBalancer: { public: false }").await;
    let server = harbour.api_server(&Way::Endpoint).await.unwrap();
    assert!(server.starts_with("https://10.0."), "{server}");
    assert_eq!(harbour.api_server(&Way::LoadBalancer).await.unwrap(), server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_comes_before_the_load_balancer_that_it_leads_to() {
    let harbour = harbour("10", "hostname: api.example.com").await;
    let ran = harbour.up(Some("network")).await;
    assert!(ran.is_done, "{}", ran.text);
    let server = harbour.api_server(&Way::Endpoint).await.unwrap();
    assert_eq!(server, "https://api.example.com:6443");
    let through = harbour.api_server(&Way::LoadBalancer).await.unwrap();
    assert!(through.starts_with("https://127.77.10."), "{through}");
}
