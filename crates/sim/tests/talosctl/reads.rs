//! What a control plane says of itself once etcd runs: S9 and S10.

use std::fs;

use base64::{Engine, prelude::BASE64_STANDARD};
use regex::Regex;
use serde_json::Value;

use crate::normal::normal;
use crate::script::Script;

/// What `talosctl health` looks at, one after the other, and what comes of it
/// where nobody gives the pods a network or runs a proxy.
const CHECKS: [(&str, &str); 16] = [
    ("etcd to be healthy", "OK"),
    ("etcd members to be consistent across nodes", "OK"),
    ("etcd members to be control plane nodes", "OK"),
    ("apid to be ready", "OK"),
    ("all nodes memory sizes", "OK"),
    ("all nodes disk sizes", "OK"),
    ("no diagnostics", "OK"),
    ("kubelet to be healthy", "OK"),
    ("all nodes to finish boot sequence", "OK"),
    ("all k8s nodes to report", "OK"),
    ("all control plane static pods to be running", "OK"),
    ("all control plane components to be ready", "OK"),
    ("all k8s nodes to report ready", "SKIP"),
    ("kube-proxy to report ready", "SKIP"),
    ("coredns to report ready", "SKIP"),
    ("all k8s nodes to report schedulable", "OK"),
];

impl Script<'_> {
    pub(crate) fn reads(&mut self) {
        self.settle("static pods", &["get", "staticpodstatus"], |it| {
            it.lines().filter(|line| line.ends_with("True")).count() == 3
        });
        self.settle("the node", &["get", "nodestatus"], |it| it.contains("cp-1"));
        self.settle("the last condition", &["get", "machinestatus", "-o", "yaml"], |it| {
            it.contains("stage: running") && it.matches("- name:").count() == 1
        });
        self.admin("S9 services", &["services"]);
        self.admin("S9 etcd members", &["etcd", "members"]);
        self.admin("S9 etcd status", &["etcd", "status"]);
        self.admin("S9 etcd alarms", &["etcd", "alarm", "list"]);
        for (step, kind) in [
            ("S9 static pods", "staticpodstatus"),
            ("S9 node", "nodestatus"),
            ("S9 members", "members"),
            ("S9 name", "nodename"),
            ("S9 type", "machinetype"),
        ] {
            self.admin(step, &["get", kind]);
        }
        self.admin("S9 status", &["get", "machinestatus", "-o", "yaml"]);
        self.admin("S9 diagnostics", &["get", "diagnostics"]);
        self.admin("S9 no such log", &["logs", "no-such-service"]);
        self.admin_some("S9 log", &["logs", "apid", "--tail=-1"], |line| {
            let call = line.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            call.map(|(call, _)| call.to_owned()).filter(|call| call.starts_with('/'))
        });
        self.admin_some("S9 kernel", &["dmesg"], |line| {
            let (_, service) = line.split_once("[talos] service[")?;
            let healthy = service.ends_with("Health check successful");
            healthy.then(|| service.to_owned())
        });
        self.lines_of_the_kernel();
        self.kinds_of_events();
        self.admin_some("S9 events", &["events", "--tail=-1"], |line| {
            let (source, message) = line.trim().split_once(' ')?;
            let healthy = message.trim() == "RUNNING: Health check successful";
            healthy.then(|| source.to_owned())
        });
        self.is_there("S9 events", "kubelet");
        self.kubeconfig();
    }

    /// What the kernels say is another matter; how it is printed is the same.
    fn lines_of_the_kernel(&mut self) {
        let form = Regex::new(r"^NODE: +\w+: +\w+: \[TIME\]: .").unwrap();
        self.admin_some("S9 form of the kernel's log", &["dmesg"], |line| {
            form.is_match(line).then(|| "NODE: FACILITY: PRIORITY: [TIME]: MESSAGE".to_owned())
        });
        self.is_there("S9 form of the kernel's log", "MESSAGE");
    }

    fn kinds_of_events(&mut self) {
        self.admin_some("S9 kinds of events", &["events", "--tail=-1"], |line| {
            let (_, kind) = line.split_once("talos/runtime/machine.")?;
            line.starts_with("NODE ").then(|| kind.trim().to_owned())
        });
        for kind in ["SequenceEvent", "MachineStatusEvent", "ServiceStateEvent"] {
            self.is_there("S9 kinds of events", kind);
        }
    }

    /// Takes down a kubeconfig without its secrets: of what is encoded only the
    /// labels stay.
    fn kubeconfig(&mut self) {
        let file = self.path("kubeconfig");
        self.admin("S9 kubeconfig", &["kubeconfig", "--force", "--merge=false", &file]);
        self.is_there("S9 kubeconfig", "exit code Some(0)");
        let mut config: Value = serde_saphyr::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        hide(&mut config);
        let lines = normal(&format!("{config:#}"), &self.ground.addresses());
        self.transcript.push(("S9 what the kubeconfig holds", lines));
        for part in ["https://NODE:6443", "admin@judged", "BEGIN CERTIFICATE", "PRIVATE KEY"] {
            self.is_there("S9 what the kubeconfig holds", part);
        }
    }

    /// Asked by talosctl itself, check by check. How often it had to look is
    /// another matter.
    pub(crate) fn health(&mut self) {
        let node = format!("--control-plane-nodes={}", self.ground.address());
        let health = ["health", "--server=false", "--wait-timeout=4m", &node];
        self.admin_some("S10 health", &health, |line| {
            let ended = [": OK", ": SKIP", "exit code"].iter().any(|end| line.contains(end));
            ended.then(|| line.to_owned())
        });
        let checks = CHECKS.map(|(check, end)| format!("waiting for {check}: {end}"));
        let mut expected = [&checks[..], &["exit code Some(0)".to_owned()]].concat();
        expected.sort();
        // That both fail alike would be no difference.
        assert_eq!(self.transcript.last().unwrap(), &("S10 health", expected));
    }

    /// The step has printed it: that both have nothing would be no difference.
    fn is_there(&self, step: &str, part: &str) {
        let (_, lines) = self.transcript.iter().find(|(it, _)| *it == step).unwrap();
        assert!(lines.iter().any(|line| line.contains(part)), "{step}: {part}: {lines:#?}");
    }
}

/// Replaces all that is encoded by the labels of what it holds.
fn hide(config: &mut Value) {
    match config {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if key.ends_with("-data") => *text = labels(text),
                    _ => hide(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide),
        _ => {}
    }
}

fn labels(encoded: &str) -> String {
    let text = String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap()).unwrap();
    text.lines().filter(|line| line.starts_with("-----")).collect()
}
