//! `status`, `plan` and the rest on a rehearsed cluster that was left standing,
//! without any flag but `--rehearsal`; and what they say where nothing can be seen.

use std::fs;

use serde_json::Value;

use crate::rehearsal::Stage;
use crate::workplace::{Ran, Workplace};

fn rehearse(stage: &Stage, until: &str) {
    let (exit, text) = stage.rehearse(&["--keep", "--speed", "60", "--until", until]);
    assert_eq!(exit, 0, "{text}");
}

/// Every world has addresses of its own, and every run an hour.
fn masked(ran: &Ran) -> String {
    let mut text = String::new();
    for word in ran.stdout.split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if bare.starts_with("127.") {
            // As wide as the longest, so that columns stay where they are.
            text.push_str(&word.replace(bare, "127.0.0.1"));
        } else {
            text.push_str(word);
        }
    }
    let squeezed = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let told = squeezed.map(|line| match line.split_once(" of 20") {
        Some((before, after)) => {
            format!("{before} of TIME{}", after.split_once("UTC").map_or("", |(_, rest)| rest))
        }
        None => line,
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_standing_rehearsal_is_found_by_every_command() {
    let stage = Stage::new();
    rehearse(&stage, "ready");
    let ran = stage.place.run(["status"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("`--rehearsal` means the rehearsed cluster"), "{ran}");
    let ran = stage.place.run(["status", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    insta::assert_snapshot!("status_standing", masked(&ran));
    let ran = stage.place.run(["status", "--rehearsal", "-o", "json"]);
    let now: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(now["cluster"], "demo");
    assert_eq!(now["nodes"].as_array().unwrap().len(), 5);
    assert_eq!(now["nodes"][0]["talos"]["saw"], "running", "{now:#}");
    assert_eq!(now["nodes"][4]["kubernetes"]["saw"], "ready", "{now:#}");

    let ran = stage.place.run(["plan", "--rehearsal", "--exit-code"]);
    assert_eq!(ran.exit, 0, "nothing is to be done: {ran}");
    assert!(ran.stdout.contains("Plan: 0 to create, 0 to change, 11 to keep."), "{ran}");

    let ran = stage.place.run(["kubeconfig", "--rehearsal"]);
    assert!(ran.exit == 0 && ran.stdout.contains("client-certificate-data"), "{ran}");
    let ran = stage.place.run(["talosconfig", "--rehearsal"]);
    assert!(ran.exit == 0 && ran.stdout.contains("endpoints"), "{ran}");

    names_are_taken(&stage);

    let ran = stage.place.run(["down", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    let ran = stage.place.run(["status", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("last run `down`") && ran.stdout.contains("proven"), "{ran}");
    assert!(ran.stdout.contains("no resource exists, €0.00 a month"), "{ran}");
    let ran = stage.place.run(["plan", "--rehearsal", "--exit-code"]);
    assert_eq!(ran.exit, 7, "{ran}");
    insta::assert_snapshot!("plan_of_nothing_there", outlook(&ran));
}

/// The part of a plan that the cloud has told.
fn outlook(ran: &Ran) -> String {
    let lines = ran.stdout.lines();
    let told = lines.filter(|line| {
        let mark = line.trim_start().chars().next().unwrap_or(' ');
        "+~=!".contains(mark) || line.starts_with("Plan:")
    });
    told.collect::<Vec<_>>().join("\n")
}

/// To whoever has another state folder the same names are somebody else's.
fn names_are_taken(stage: &Stage) {
    let folder = stage.place.path().join(".seaworthy/demo.rehearsal-1");
    let world: Value =
        serde_json::from_slice(&fs::read(folder.join("world.json")).unwrap()).unwrap();
    let stranger = Workplace::new();
    fs::copy(folder.join("cluster.yaml"), stranger.path().join("cluster.yaml")).unwrap();
    let ran = as_stranger(&stranger, &folder.join("cloud-ca.pem").display().to_string(), &world);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stdout.contains("SW0205: "), "{ran}");
    assert!(ran.stdout.contains("has the name, and is not ours"), "{ran}");
    assert!(!stranger.path().join(".seaworthy").exists(), "a plan makes nothing");
}

fn as_stranger(place: &Workplace, authority: &str, world: &Value) -> Ran {
    let endpoint = world["endpoint"].as_str().unwrap();
    let token = place.write("token", world["token"].as_str().unwrap());
    let token = token.display().to_string();
    place.run([
        "plan",
        "--cloud-endpoint",
        endpoint,
        "--cloud-ca",
        authority,
        "--token-file",
        &token,
    ])
}

#[test]
fn half_a_cluster_is_told_as_it_is() {
    let stage = Stage::new();
    rehearse(&stage, "network");
    let ran = stage.place.run(["status", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    insta::assert_snapshot!("status_half", masked(&ran));
    let ran = stage.place.run(["plan", "--rehearsal"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("Plan: 5 to create, 0 to change, 6 to keep."), "{ran}");
}

#[test]
fn what_cannot_be_seen_is_no_error_of_status() {
    let place = Workplace::new();
    assert_eq!(place.run(["init"]).exit, 0);
    let ran = place.run(["status"]);
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("no run has been made"), "{ran}");
    assert!(ran.stdout.contains("not seen: there is no token for Hetzner Cloud"), "{ran}");
    let token = place.write("token", "hunter22");
    let token = token.display().to_string();
    let dead = ["--cloud-endpoint", "https://127.0.0.1:9/v1", "--token-file", &token];
    let ran = place.run(["status"].iter().chain(&dead));
    assert_eq!(ran.exit, 0, "{ran}");
    assert!(ran.stdout.contains("cloud           not seen: "), "{ran}");
    let ran = place.run(["plan"].iter().chain(&dead));
    assert_eq!(ran.exit, 4, "{ran}");
    assert!(ran.stderr.contains("could not ask the cloud"), "{ran}");
    assert!(!ran.to_string().contains("hunter22"), "{ran}");
    let ran = place.run(["status", "--rehearsal"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("no rehearsed world stands"), "{ran}");
    assert!(!place.path().join(".seaworthy").exists(), "looking makes nothing");
}
