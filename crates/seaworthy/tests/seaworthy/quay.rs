//! A namespace on a real API server, and the binary beside it.

use std::io::Read as _;
use std::process::{Child, Stdio};

use rig::{FaultyProxy, Namespace};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::workplace::{Ran, Workplace};

pub(crate) struct Quay {
    pub(crate) namespace: Namespace,
    pub(crate) workplace: Workplace,
}

impl Quay {
    #[track_caller]
    pub(crate) fn reach() -> Option<Self> {
        Some(Self::at(rig::need::namespace()?))
    }

    pub(crate) fn at(namespace: Namespace) -> Self {
        let quay = Self { namespace, workplace: Workplace::new() };
        let kubeconfig = std::fs::read(quay.namespace.access().kubeconfig()).unwrap();
        quay.workplace.write("kubeconfig", kubeconfig);
        quay
    }

    /// Runs a command of ours in the namespace.
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Ran {
        self.run_as("kubeconfig", command, args)
    }

    pub(crate) fn run_as(&self, kubeconfig: &str, command: &str, args: &[&str]) -> Ran {
        self.workplace.run(self.line(kubeconfig, command, args))
    }

    /// Starts a command of ours, for somebody who does not wait.
    pub(crate) fn start(&self, command: &str, args: &[&str]) -> Child {
        self.start_as("kubeconfig", command, args)
    }

    pub(crate) fn start_as(&self, kubeconfig: &str, command: &str, args: &[&str]) -> Child {
        let mut ours = self.workplace.command(self.line(kubeconfig, command, args));
        ours.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn line<'a>(&'a self, kubeconfig: &'a str, command: &'a str, args: &[&'a str]) -> Vec<&'a str> {
        let everywhere = args.contains(&"-A");
        let always = [command, "--kubeconfig", kubeconfig];
        let inside = ["-n", self.namespace.name()];
        let inside = inside.iter().filter(|_| !everywhere);
        always.iter().chain(inside).chain(args).copied().collect()
    }

    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        let args: Vec<&str> = ["-n", self.namespace.name()].iter().chain(args).copied().collect();
        self.namespace.kubectl().run(&args).unwrap()
    }

    /// Puts a proxy between us and the API server; its kubeconfig is `proxied`.
    pub(crate) fn proxy(&self) -> FaultyProxy {
        let proxy = FaultyProxy::start(self.namespace.access()).unwrap();
        self.workplace.write("proxied", std::fs::read(proxy.kubeconfig()).unwrap());
        proxy
    }

    /// Writes a kubeconfig of somebody else, and returns its name.
    pub(crate) fn kubeconfig_with(&self, name: &str, user: &Value) -> String {
        let mut config: Value = serde_json::from_str(&self.workplace.read("kubeconfig")).unwrap();
        config["users"][0]["user"] = user.clone();
        self.workplace.write(name, config.to_string());
        name.to_owned()
    }

    /// Writes a kubeconfig of an account that may do nothing.
    pub(crate) fn account_without_rights(&self) -> String {
        self.kubectl(&["create", "serviceaccount", "poor"]);
        let token = self.kubectl(&["create", "token", "poor"]);
        self.kubeconfig_with("poor", &json!({ "token": token.trim() }))
    }

    /// Writes a kubeconfig of a server that is not there, and returns its name.
    pub(crate) fn kubeconfig_of_nobody(&self) -> String {
        let mut config: Value = serde_json::from_str(&self.workplace.read("kubeconfig")).unwrap();
        config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1".into();
        self.workplace.write("nobody", config.to_string());
        "nobody".to_owned()
    }
}

/// Waits until a line with these words was said on stderr, and returns all up to it.
pub(crate) fn hear(child: &mut Child, words: &str) -> String {
    let mut said = Vec::new();
    let out = child.stderr.as_mut().unwrap();
    let mut byte = [0];
    while out.read(&mut byte).unwrap() > 0 {
        said.push(byte[0]);
        let text = String::from_utf8_lossy(&said);
        if byte[0] == b'\n' && text.lines().last().is_some_and(|line| line.contains(words)) {
            return text.into_owned();
        }
    }
    panic!("it ended without a word of {words}: {}", String::from_utf8_lossy(&said));
}

/// Presses Ctrl-C, and goes on.
pub(crate) fn press(child: &Child) {
    let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

/// Presses Ctrl-C, and returns the exit code and the last words.
pub(crate) fn interrupt(mut child: Child) -> (i32, String) {
    press(&child);
    let mut said = String::new();
    child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code().unwrap(), said)
}
