//! How a step of the script is taken: talosctl is asked, and what it prints is
//! written down.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::normal::normal;
use crate::script::Script;

/// How long a state may take to come, on a busy host.
const PATIENCE: Duration = Duration::from_mins(4);
/// How long one call of talosctl may take, for `timeout`.
const ONE_CALL: &str = "8";
/// How long it may take to look at everything, again and again.
const HEALTH: &str = "250";
/// How long a restart may take, where talosctl waits for its end.
const RESTART: &str = "100";
/// How often talosctl is asked where it did not read what the node said.
const TRIES: u32 = 40;

/// Whom talosctl calls, and whom it means.
#[derive(Clone, Copy)]
pub(crate) struct Aim {
    pub(crate) endpoint: Ipv4Addr,
    pub(crate) node: Ipv4Addr,
}

impl Aim {
    pub(crate) fn at(address: Ipv4Addr) -> Self {
        Self { endpoint: address, node: address }
    }
}

impl Script<'_> {
    pub(crate) fn bare(&mut self, step: &'static str, args: &[&str]) {
        self.take(step, &[args, &["--insecure"]].concat());
    }

    pub(crate) fn admin(&mut self, step: &'static str, args: &[&str]) {
        self.with("ours", step, args);
    }

    /// Takes of each line what matters, once each.
    pub(crate) fn some(
        &mut self,
        step: &'static str,
        args: &[impl AsRef<str>],
        matters: impl Fn(&str) -> Option<String>,
    ) {
        let args: Vec<_> = args.iter().map(AsRef::as_ref).collect();
        self.take(step, &args);
        let (_, lines) = self.transcript.last_mut().unwrap();
        let some: BTreeSet<_> = lines.iter().filter_map(|line| matters(line)).collect();
        *lines = some.into_iter().collect();
    }

    pub(crate) fn admin_some(
        &mut self,
        step: &'static str,
        args: &[&str],
        matters: impl Fn(&str) -> Option<String>,
    ) {
        self.some(step, &self.as_admin(args), matters);
    }

    pub(crate) fn as_admin(&self, args: &[&str]) -> Vec<String> {
        let config = self.path("ours/talosconfig");
        [&["--talosconfig", &config], args].concat().into_iter().map(str::to_owned).collect()
    }

    pub(crate) fn with(&mut self, cluster: &str, step: &'static str, args: &[&str]) {
        let config = self.path(&format!("{cluster}/talosconfig"));
        self.take(step, &[&["--talosconfig", &config], args].concat());
    }

    pub(crate) fn as_reader(&mut self, step: &'static str, args: &[&str]) {
        let config = self.path("reader");
        self.take(step, &[&["--talosconfig", &config], args].concat());
    }

    pub(crate) fn admin_quietly(&self, args: &[&str]) -> Output {
        if args.contains(&"--insecure") {
            return self.call(args);
        }
        let args = self.as_admin(args);
        self.call(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A node that breaks off says why, and talosctl may be writing at that
    /// moment and not read it. It is asked again then.
    fn take(&mut self, step: &'static str, args: &[&str]) {
        let unread = ["write: broken pipe", "connection reset by peer"];
        let mut tries = 0;
        let (output, said) = loop {
            let output = self.call(args);
            let said = [output.stdout.clone(), output.stderr.clone()].concat();
            let said = String::from_utf8_lossy(&said).replace(&self.path(""), "/tmp/");
            tries += 1;
            if tries == TRIES || !unread.iter().any(|text| said.contains(text)) {
                break (output, said);
            }
        };
        let mut lines = normal(&said, &self.ground.addresses());
        lines.push(format!("exit code {:?}", output.status.code()));
        self.transcript.push((step, lines));
    }

    fn call(&self, args: &[&str]) -> Output {
        let (endpoint, node) = (self.aim.endpoint.to_string(), self.aim.node.to_string());
        let mut command = Command::new("timeout");
        let patience = match args {
            _ if args.contains(&"health") => HEALTH,
            _ if args.iter().any(|arg| arg.starts_with("--timeout")) => RESTART,
            _ => ONE_CALL,
        };
        command.args(["--signal=KILL", patience]).arg(self.ctl.binary());
        command.env("HOME", self.folder.path()).env_remove("TALOSCONFIG").args(args);
        command.args(["--nodes", &node]);
        if !args.contains(&"--insecure") {
            command.args(["--endpoints", &endpoint]);
        }
        command.output().unwrap()
    }

    /// Asks until the answer is good and as it should be.
    pub(crate) fn settle(&self, what: &str, args: &[&str], good: impl Fn(&str) -> bool) {
        self.wait(what, |script| {
            let output = script.admin_quietly(args);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.success() && good(&said) {
                return Ok(());
            }
            Err(said + &String::from_utf8_lossy(&output.stderr))
        });
    }

    /// Looks until it is so.
    #[expect(clippy::disallowed_methods, reason = "a test polls the world as a person would")]
    pub(crate) fn wait(&self, what: &str, look: impl Fn(&Self) -> Result<(), String>) {
        let began = Instant::now();
        while let Err(why) = look(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: {why}");
            std::thread::park_timeout(Duration::from_millis(200));
        }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }
}
