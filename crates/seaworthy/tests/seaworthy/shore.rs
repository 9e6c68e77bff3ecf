//! A namespace on a real API server, and a folder to give commands in.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rig::Namespace;
use rustix::process::{Pid, Signal, kill_process};

use crate::workplace::{Ran, Workplace};

/// Where commands on objects are given.
pub(crate) struct Shore {
    pub(crate) namespace: Namespace,
    pub(crate) workplace: Workplace,
}

impl Shore {
    #[track_caller]
    pub(crate) fn reach() -> Option<Self> {
        Some(Self { namespace: rig::need::namespace()?, workplace: Workplace::new() })
    }

    /// Gives a command on the namespace.
    pub(crate) fn run(&self, command: &str, args: &[&str]) -> Ran {
        self.run_at(self.namespace.access().kubeconfig(), command, args)
    }

    /// Gives a command by another way to the cluster, such as a faulty one.
    pub(crate) fn run_at(&self, kubeconfig: &Path, command: &str, args: &[&str]) -> Ran {
        self.workplace.run(
            self.always(kubeconfig, command).iter().map(String::as_str).chain(args.iter().copied()),
        )
    }

    /// Gives a command whose output nobody reads, and returns how it ended.
    pub(crate) fn run_unread(&self, command: &str, args: &[&str]) -> i32 {
        let always = self.always(self.namespace.access().kubeconfig(), command);
        let args = always.iter().map(String::as_str).chain(args.iter().copied());
        let mut command = self.workplace.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        child.wait().unwrap().code().unwrap()
    }

    /// Gives a command, asks it to stop once it has said a word on stderr, and
    /// returns how it ended and all that it said there.
    pub(crate) fn interrupt_at(
        &self,
        word: &str,
        kubeconfig: &Path,
        command: &str,
        args: &[&str],
    ) -> (i32, String) {
        let always = self.always(kubeconfig, command);
        let args = always.iter().map(String::as_str).chain(args.iter().copied());
        let mut child = spawn(self.workplace.command(args));
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains(word) {
            assert!(lines.read_line(&mut said).unwrap() > 0, "it ended before `{word}`: {said}");
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        lines.read_to_string(&mut said).unwrap();
        (child.wait().unwrap().code().unwrap(), said)
    }

    pub(crate) fn kubectl(&self, args: &[&str]) -> String {
        let args: Vec<&str> = ["-n", self.namespace.name()].iter().chain(args).copied().collect();
        self.namespace.kubectl().run(&args).unwrap()
    }

    fn always(&self, kubeconfig: &Path, command: &str) -> Vec<String> {
        let kubeconfig = kubeconfig.display().to_string();
        let namespace = self.namespace.name().to_owned();
        vec![command.into(), "--kubeconfig".into(), kubeconfig, "-n".into(), namespace]
    }
}

fn spawn(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A manifest of a config map.
pub(crate) fn map(name: &str, value: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name} }}\ndata: {{ k: '{value}' }}\n---\n"
    )
}

/// A manifest of a deployment.
pub(crate) fn deployment(name: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name} }}\nspec:\n  \
         replicas: {replicas}\n  selector: {{ matchLabels: {{ app: {name} }} }}\n  template:\n    \
         metadata: {{ labels: {{ app: {name} }} }}\n    spec: {{ containers: [{{ name: app, image: \
         example.test/app }}] }}\n---\n"
    )
}
