//! A judge that we did not write: Hetzner's own Go client.
//!
//! `hcloud-judge` builds, reads and deletes a cluster's worth of resources
//! through hcloud-go, which decodes every answer into its own types.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use sim::Tempo;
use tempfile::NamedTempFile;
use tokio::process::Command;

use crate::cloud::{Cloud, TOKEN};

/// Simulated minutes become seconds, so that the client really has to wait.
const SPEED: u32 = 100;

async fn judge(cloud: &Cloud, program: &Path, token: &str) -> Output {
    let authority = NamedTempFile::new().unwrap();
    std::fs::write(authority.path(), cloud.authority.pem()).unwrap();
    let mut command = Command::new(program);
    command.arg("-endpoint").arg(cloud.hetzner.endpoint()).arg("-ca").arg(authority.path());
    command.env_clear().env("HCLOUD_TOKEN", token).kill_on_drop(true);
    command.output().await.unwrap()
}

fn verdict(output: &Output) -> Value {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn the_official_client_builds_reads_and_deletes() {
    let Some(program) = rig::need::binary("hcloud-judge") else { return };
    let cloud = Cloud::start(Tempo::times(SPEED), 360_000).await;
    let verdict = verdict(&judge(&cloud, &program, TOKEN).await);
    let expected = json!({
        "locations": 6,
        "monthly_net": "3.4900",
        "servers": 3,
        "pages": 2,
        "fixed_ip": "10.0.64.11",
        "firewall_status": "applied",
        "target_health": vec!["unhealthy: layer4_no_connection"; 3],
        "refusals": {
            "same name": "uniqueness_error",
            "public range": "invalid_input",
            "public range, field": "ip_range",
            "firewall in use": "resource_in_use",
            "old server type": "invalid_server_type",
            "protected": "protected",
        },
        "leftovers": 0,
    });
    assert_eq!(verdict, expected);
    let entries = cloud.machines.told(6).await;
    let count = |wanted: &str| entries.iter().filter(|(what, _)| *what == wanted).count();
    assert_eq!((count("runs"), count("gone")), (3, 3));
}

#[tokio::test]
async fn the_official_client_survives_faults_that_it_retries() {
    let Some(program) = rig::need::binary("hcloud-judge") else { return };
    let cloud = Cloud::start(Tempo::times(SPEED), 360_000).await;
    cloud.hetzner.turn(|knobs| {
        knobs.bad_gateways = 3;
        knobs.busy = Some((sim::hetzner::Busy::Conflict, 3));
    });
    let verdict = verdict(&judge(&cloud, &program, TOKEN).await);
    assert_eq!((&verdict["servers"], &verdict["leftovers"]), (&json!(3), &json!(0)));
}

#[tokio::test]
async fn the_official_client_understands_refusals() {
    let Some(program) = rig::need::binary("hcloud-judge") else { return };
    let cloud = Cloud::start(Tempo::times(SPEED), 360_000).await;
    let output = judge(&cloud, &program, "another").await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("unauthorized"), "{complaint}");

    cloud.hetzner.turn(|knobs| {
        knobs.failing_actions.insert("start_server".to_owned(), 1);
    });
    let output = judge(&cloud, &program, TOKEN).await;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("servers: ") && complaint.contains("action_failed"), "{complaint}");
}
