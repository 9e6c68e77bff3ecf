//! Tokens that come from a command or a file, and those that do not come.

use std::fs;

use events::{Arrival, Class};
use objects::{Access, AccessError, NoCredential, Trouble};
use serde_json::{Value, json};

use crate::harbour::Harbour;

/// When a token ends that is over, and when one ends that is good.
const OVER: &str = "2020-01-01T00:00:00Z";
const GOOD: &str = "2126-01-01T00:00:00Z";

/// Who gets a token from a command.
fn command(command: &str, args: &[&str]) -> Value {
    json!({ "exec": { "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never", "command": command, "args": args,
        "env": [{ "name": "PIN", "value": "hunter22" }] } })
}

fn credential(token: &str, end: &str) -> String {
    json!({ "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
        "status": { "token": token, "expirationTimestamp": end } })
    .to_string()
}

fn access(harbour: &Harbour, user: &Value) -> Access {
    let text = fs::read_to_string(harbour.proxy.kubeconfig()).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    config["users"][0]["user"] = user.clone();
    Access::from_kubeconfig(config.to_string().as_bytes(), None).unwrap()
}

async fn unmade(harbour: &Harbour, user: &Value) -> String {
    let error = access(harbour, user).connect().await.unwrap_err();
    assert!(matches!(error, AccessError::NoCredential { .. }), "{error:?}");
    let all = format!("{error} {error:?}");
    assert!(!all.contains("hunter22"), "{all}");
    let server = harbour.cluster.server();
    let text = error.to_string();
    text.strip_prefix(&format!("could not get a token for {server}: ")).unwrap().to_owned()
}

#[tokio::test]
async fn what_keeps_a_token_away_at_the_start_is_told_and_no_secret_is() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let script = "echo hunter22; echo the session >&2; echo is over >&2; exit 3";
    assert_eq!(
        unmade(&harbour, &command("sh", &["-c", script, "hunter22"])).await,
        "the command for a token, `sh`, failed (exit status: 3): the session is over; \
         run it by hand, and log in anew where it says so"
    );
    assert_eq!(
        unmade(&harbour, &command("no-such-login", &[])).await,
        "the command for a token, `no-such-login`, could not be started: \
         no such file or directory; \
         install it, or write its path into the kubeconfig"
    );
    assert_eq!(
        unmade(&harbour, &json!({ "tokenFile": "/nowhere/token" })).await,
        "the token file /nowhere/token cannot be read: no such file or directory; \
         check `tokenFile` in the kubeconfig"
    );
    let said = unmade(&harbour, &command("echo", &["{\"status\": [hunter22"])).await;
    assert!(said.contains("`echo`, printed no credential: it cannot be read at line 1"), "{said}");
    let said = unmade(&harbour, &command("echo", &["{}"])).await;
    assert!(said.contains("`echo`, printed no credential: it has no status"), "{said}");
    let said = unmade(&harbour, &command("echo", &[&credential("hunter22", "hunter22")])).await;
    assert!(said.contains("its expirationTimestamp is no time"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_later_ends_the_request_before_it_is_sent() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credential.json");
    fs::write(&file, credential("hunter22", OVER)).unwrap();
    let script = format!("cat {0} && exit; echo hunter22; echo log in >&2; exit 1", file.display());
    let user = command("sh", &["-c", &script]);
    let cluster = access(&harbour, &user).connect().await.unwrap();
    fs::remove_file(&file).unwrap();
    let error = cluster.version().await.unwrap_err();
    let Trouble::NoCredential(reason) = error.trouble() else { panic!("{error:?}") };
    let NoCredential::Failed { command, said, .. } = &**reason else { panic!("{reason:?}") };
    assert!(command == "sh" && said.ends_with("log in"), "{error}");
    assert_eq!((error.class(), error.arrival()), (Class::Permanent, Arrival::No));
    let all = format!("{error} {error:?} {}", error.failure());
    assert!(!all.contains("hunter22"), "{all}");
    assert_eq!(harbour.proxy.counts().borrow().of("get", "/version"), 0, "nothing was sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_makes_tokens_is_asked_again_when_one_is_over() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credential.json");
    let hand_out = |token: &str, end: &str| fs::write(&file, credential(token, end)).unwrap();
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"] }]);
    harbour.as_account("reader", rules).await;
    let token = harbour.kubectl(&["create", "token", "reader"]);
    hand_out(token.trim(), OVER);
    let user = command("cat", &[file.to_str().unwrap()]);
    let cluster = access(&harbour, &user).connect().await.unwrap();
    let id = harbour.config_map("a", json!({})).id().clone();
    assert_eq!(cluster.get(&id).await.unwrap(), None);
    hand_out("over", OVER);
    assert_eq!(cluster.get(&id).await.unwrap_err().trouble(), &Trouble::Unauthenticated);
    hand_out(token.trim(), GOOD);
    assert_eq!(
        cluster.get(&id).await.unwrap(),
        None,
        "a fresh one is fetched for the next request"
    );
    hand_out("not needed", GOOD);
    assert_eq!(cluster.get(&id).await.unwrap(), None, "and kept while it is good");
}

/// Whoever has waited while no token was to be had does not run the command again.
#[tokio::test(flavor = "multi_thread")]
async fn many_that_are_refused_at_once_run_a_failing_command_once() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let folder = tempfile::tempdir().unwrap();
    let (runs, first) = (folder.path().join("runs"), folder.path().join("first"));
    fs::write(&first, credential("over", GOOD)).unwrap();
    let script = format!(
        "echo x >> {}; cat {first} && rm {first} && exit; sleep 1; exit 1",
        runs.display(),
        first = first.display()
    );
    let cluster = access(&harbour, &command("sh", &["-c", &script])).connect().await.unwrap();
    let before = fs::read_to_string(&runs).unwrap().lines().count();
    let id = harbour.config_map("a", json!({})).id().clone();
    let many = (0..16).map(|_| cluster.get(&id));
    for answer in futures::future::join_all(many).await {
        assert_eq!(answer.unwrap_err().trouble(), &Trouble::Unauthenticated);
    }
    let after = fs::read_to_string(&runs).unwrap().lines().count();
    assert_eq!(after - before, 1);
}

/// Nothing says when such a token is over, but the API.
#[tokio::test]
async fn a_token_that_was_rotated_is_read_anew_when_the_api_does_not_take_it() {
    let Some(opening) = Harbour::open() else { return };
    let harbour = opening.harbour().await;
    let rules = json!([{ "apiGroups": [""], "resources": ["configmaps"],
        "verbs": ["get", "list", "watch"] }]);
    harbour.as_account("reader", rules).await;
    let token = harbour.kubectl(&["create", "token", "reader"]);
    let folder = tempfile::tempdir().unwrap();
    let id = harbour.config_map("a", json!({})).id().clone();
    let endless = |token: &str| {
        json!({ "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": { "token": token } })
        .to_string()
    };
    let file = |name: &str| folder.path().join(name);
    let made = command("cat", &[file("made").to_str().unwrap()]);
    let lines = json!({ "tokenFile": file("lines") });
    let plain = json!({ "tokenFile": file("plain") });
    for (name, user) in [("made", made), ("lines", lines), ("plain", plain)] {
        let hand_out = |token: &str| {
            let text = match name {
                "made" => endless(token),
                "lines" => format!("{token}\n"),
                _ => token.to_owned(),
            };
            fs::write(file(name), text).unwrap();
        };
        hand_out("over");
        let cluster = access(&harbour, &user).connect().await.unwrap();
        assert_eq!(cluster.get(&id).await.unwrap_err().trouble(), &Trouble::Unauthenticated);
        hand_out(token.trim());
        assert_eq!(cluster.get(&id).await.unwrap(), None, "{name}");

        // Also where the answer is a stream.
        hand_out("over");
        let cluster = access(&harbour, &user).connect().await.unwrap();
        let maps = objects::Scope::all(id.kind.clone()).within(harbour.namespace.name());
        assert!(cluster.list(&maps).await.is_err());
        hand_out(token.trim());
        let sighting = cluster.watch(maps).next().await.unwrap();
        assert!(matches!(sighting, objects::Sighting::Everything(_)), "{name}: {sighting:?}");
    }
}
