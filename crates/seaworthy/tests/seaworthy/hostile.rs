//! Every command against an API that repeats our credential and sends orders to
//! the terminal, and on a machine that has run out of something.

use std::process::Command;
use std::sync::Arc;

use serde_json::json;

use crate::hostile_api::{self, Answer};
use crate::pty::Pty;
use crate::workplace::{Ran, Workplace};

const TOKEN: &str = "canary-token-4c1e0f";
const PASSWORD: &str = "canary-password-77";

/// A title for the window, a cleared screen, a forged line, and reversed letters.
const ORDERS: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\r\nFAKE: Proven demo\n\u{202e}dnev\u{9b}31m";

const CLUSTER: &str = "\
apiVersion: seaworthy.dev/v1
kind: Cluster
metadata: { name: demo }
spec:
  cloud: { hetzner: { location: fsn1 } }
  talos: { version: v1.14.1 }
  kubernetes: { version: v1.36.3 }
  controlPlane: { count: 1, type: cax11 }
  addons: { cilium: {}, hcloud-ccm: {} }
";

/// The commands that ask Kubernetes, each with what it needs.
const ON_KUBERNETES: &[&[&str]] = &[
    &["verify"],
    &["verify", "--state-dir", "kept"],
    &["apply", "-f", "a.yaml", "--timeout", "1s"],
    &["wait", "cm/a", "--timeout", "1s"],
    &["diff", "-f", "a.yaml", "--timeout", "1s"],
    &["drift", "-f", "a.yaml", "--timeout", "1s"],
    &["explain", "cm/a", "--timeout", "1s"],
    &["delete", "cm/a", "--timeout", "1s"],
];

/// The commands that ask Hetzner.
const ON_HETZNER: &[&[&str]] = &[
    &["plan"],
    &["status"],
    &["down", "--dry-run"],
    &["up", "own.yaml", "--my-ip", "198.51.100.7", "--timeout", "preflight=1s"],
];

struct Hostile {
    place: Workplace,
    endpoint: String,
}

impl Hostile {
    /// APIs that answer everything with what `say` makes of a path.
    fn new(say: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        let (place, answer): (_, Answer) = (Workplace::new(), Arc::new(say));
        let server = hostile_api::kubernetes(Arc::clone(&answer));
        let (endpoint, authority) = hostile_api::hetzner(answer);
        place.write("ca.pem", authority);
        place.write("cluster.yaml", CLUSTER);
        // Outside a rehearsal `up` takes no stand-ins for charts.
        let own = "manifests: [{ name: charts, path: a.yaml, after: api }]";
        place.write("own.yaml", CLUSTER.replace("addons: { cilium: {}, hcloud-ccm: {} }", own));
        place.write("a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n");
        place.write("kubeconfig", kubeconfig(&format!("http://bob:{PASSWORD}@{server}")));
        Self { place, endpoint }
    }

    fn command(&self, args: &[&str], on_hetzner: bool) -> Command {
        let mut command = self.place.command(args);
        if on_hetzner {
            command.args(["--cloud-endpoint", &self.endpoint, "--cloud-ca", "ca.pem"]);
            command.env("HCLOUD_TOKEN", TOKEN);
        } else {
            command.args(["--kubeconfig", "kubeconfig"]);
        }
        command
    }

    /// Every command, for each API.
    fn commands(&self) -> impl Iterator<Item = (String, Command)> {
        let kubernetes = ON_KUBERNETES.iter().map(|args| (args, false));
        let all = kubernetes.chain(ON_HETZNER.iter().map(|args| (args, true)));
        all.map(|(args, on_hetzner)| (args.join(" "), self.command(args, on_hetzner)))
    }
}

fn kubeconfig(server: &str) -> String {
    json!({ "current-context": "it",
        "clusters": [{ "name": "it", "cluster": { "server": server } }],
        "users": [{ "name": "it", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }] })
    .to_string()
}

/// A refusal in the words of both APIs.
fn refusal(code: u16, message: &str) -> (u16, String) {
    let status = json!({ "kind": "Status", "code": code, "message": message, "reason": "x",
        "error": { "code": "invalid_input", "message": message } });
    (code, status.to_string())
}

#[test]
fn no_command_prints_or_keeps_a_credential_that_comes_back() {
    let hostile = Hostile::new(|path| {
        // Hetzner was never shown the password.
        let password = if path.starts_with("/v1/") { "" } else { PASSWORD };
        refusal(422, &format!("no: Bearer {TOKEN} of bob:{password}, you know"))
    });
    for (name, mut command) in hostile.commands() {
        let ran = hostile.place.ran(&mut command);
        assert_ne!(ran.exit, 101, "{name}: {ran}");
        hides(&name, &ran);
        let ran = hostile.place.ran(command.args(["-o", "json"]));
        hides(&name, &ran);
    }
    for entry in walk(hostile.place.path()) {
        let own = ["kubeconfig", "hostile"].iter().any(|own| entry.ends_with(own));
        assert!(!entry.display().to_string().contains("canary"), "{}", entry.display());
        let bytes = std::fs::read(&entry).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(own || !text.contains("canary"), "{}: {text}", entry.display());
    }
}

#[track_caller]
fn hides(name: &str, ran: &Ran) {
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!all.contains("canary"), "{name}: {ran}");
    // It did come back, or this proves nothing.
    assert!(all.contains("«secret"), "{name}: {ran}");
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            files.extend(walk(&entry.path()));
        } else if entry.file_type().unwrap().is_file() {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn no_command_lets_the_text_of_others_steer_the_terminal() {
    let hostile = Hostile::new(|_| refusal(422, ORDERS));
    for (name, mut command) in hostile.commands() {
        let pty = Pty::open();
        command.stdout(pty.stream()).stderr(pty.stream()).env("TERM", "xterm-256color");
        let seen = pty.watch(command);
        harmless(&name, &seen);
        assert!(seen.contains("FAKE"), "{name}: it was not shown: {seen:?}");
    }
}

/// Our own frames move the cursor and set colours. Nothing sets titles, clears the
/// screen, reverses letters, or begins a line in our name.
#[track_caller]
fn harmless(name: &str, seen: &str) {
    for order in ["\u{1b}]", "\u{1b}[2J", "\u{202e}", "\u{9b}"] {
        assert!(!seen.contains(order), "{name}: {order:?} in {seen:?}");
    }
    let forged = seen.lines().find(|line| line.trim_start().starts_with("FAKE"));
    assert_eq!(forged, None, "{name}: {seen:?}");
}

/// Runs a command of ours under a limit of the shell. Where memory ends in the
/// middle, a signal ends it.
fn limited(hostile: &Hostile, limit: &str, args: &[&str]) -> (Option<i32>, String) {
    let ours = hostile.command(args, args[0] == "plan");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit {limit}; exec \"$@\"")).arg("sh");
    command.arg(ours.get_program()).args(ours.get_args());
    command.env_clear().envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(hostile.place.path()).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_machine_that_has_run_out_of_something_is_told_without_a_panic() {
    let hostile = Hostile::new(|_| refusal(500, "x"));
    let limits = ["-n 8", "-n 12", "-n 16", "-v 90000", "-v 110000", "-v 150000", "-v 250000"];
    for limit in limits {
        for args in [&["plan"][..], &["wait", "cm/a", "--timeout", "1s"]] {
            let (exit, said) = limited(&hostile, limit, args);
            assert!(![Some(0), Some(101)].contains(&exit), "{limit} {args:?}: {exit:?} {said}");
            assert!(!said.contains("panicked"), "{limit} {args:?}: {said}");
        }
    }
    let (_, said) = limited(&hostile, "-n 8", &["wait", "cm/a", "--timeout", "1s"]);
    assert!(said.contains("too many open files in this process"), "{said}");
}

#[test]
fn a_missing_temporary_folder_is_named() {
    let hostile = Hostile::new(|path| match path {
        "/version" => (200, json!({ "gitVersion": "v1.36.3" }).to_string()),
        _ => (200, json!({ "items": [], "groups": [], "resources": [] }).to_string()),
    });
    let ran = hostile.place.ran(hostile.command(&["verify"], false).env("TMPDIR", "/nowhere/tmp"));
    assert_eq!(ran.exit, 1, "{ran}");
    let words = "could not make a folder in /nowhere/tmp: it does not exist";
    assert!(ran.stderr.contains(words) && ran.stderr.contains("set TMPDIR"), "{ran}");
}

#[test]
fn a_token_with_a_line_break_is_refused_without_a_panic() {
    let place = Workplace::new();
    let broken = kubeconfig("https://127.0.0.1:9").replace(TOKEN, &format!("{TOKEN}\\nX: 1"));
    place.write("kubeconfig", broken);
    for command in ["verify", "explain"] {
        let ran = place.run(
            [command, "--kubeconfig", "kubeconfig"].iter().chain(if command == "explain" {
                &["cm/a"][..]
            } else {
                &[]
            }),
        );
        assert_eq!(ran.exit, 2, "{ran}");
        let words = "the token of the kubeconfig cannot be sent: it has a line break in it";
        assert!(ran.stderr.contains(words) && !ran.stderr.contains("canary"), "{ran}");
    }
}

/// A proxy that says no. Loopback is never proxied, so that the server is elsewhere.
#[test]
fn a_proxy_of_the_environment_that_says_no_is_named_without_its_password() {
    let hostile = Hostile::new(|_| (403, String::new()));
    let proxy = hostile_api::kubernetes(Arc::new(|_| (403, String::new())));
    hostile.place.write("kubeconfig", kubeconfig("https://192.0.2.1:6443"));
    let run = |args: &[&str], on_hetzner: bool| {
        let mut command = hostile.command(args, on_hetzner);
        command.env("HTTPS_PROXY", format!("http://bob:{PASSWORD}@{proxy}"));
        hostile.place.ran(&mut command)
    };
    let ran = run(&["wait", "cm/a", "--timeout", "1s"], false);
    let words = format!("the proxy {proxy} refuses to connect to 192.0.2.1:6443: 403");
    assert!(ran.stderr.contains(&words) && !ran.stderr.contains("canary"), "{ran}");
    let mut command = hostile.place.command(["plan", "--cloud-endpoint", "https://192.0.2.1/v1"]);
    command.env("HTTPS_PROXY", format!("http://bob:{PASSWORD}@{proxy}")).env("HCLOUD_TOKEN", TOKEN);
    let ran = hostile.place.ran(&mut command);
    let words = format!("the proxy {proxy} refuses to connect to 192.0.2.1:443: 403");
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(all.contains(&words) && !all.contains("canary"), "{ran}");
    // Exceptions and this machine are reached directly.
    let ran = run(&["status"], true);
    assert!(!format!("{ran}").contains("the proxy"), "{ran}");
}

#[test]
fn a_server_that_drips_is_given_up_by_every_command() {
    let hostile = Hostile::new(|_| refusal(500, "x"));
    let server = hostile_api::dripping();
    hostile.place.write("kubeconfig", kubeconfig(&format!("http://{server}")));
    for args in ON_KUBERNETES.iter().filter(|args| args.contains(&"--timeout")) {
        let ran = hostile.place.ran(&mut hostile.command(args, false));
        assert!(ran.stderr.contains("no answer in time"), "{args:?}: {ran}");
    }
}

#[test]
fn a_kubeconfig_that_cannot_be_read_is_told_with_line_and_caret() {
    let place = Workplace::new();
    let text = format!("apiVersion: v1\nusers:\n- name: a\n    token: {TOKEN}\n");
    place.write("kubeconfig", text);
    let ran = place.run(["explain", "cm/a", "--kubeconfig", "kubeconfig"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.contains("the kubeconfig cannot be read: line "), "{ran}");
    assert!(ran.stderr.contains('^') && !ran.stderr.contains("canary"), "{ran}");
    let ran = place.run(["explain", "cm/a", "--kubeconfig", "."]);
    assert!(ran.stderr.contains("could not read the kubeconfig .: is a directory"), "{ran}");
}
