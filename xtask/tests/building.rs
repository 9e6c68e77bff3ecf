//! Finding and building components, with a Go that does as it is told.
#![expect(clippy::unwrap_used, reason = "a test may")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// A binary that prints whatever version is looked for.
const GOOD_BINARY: &str =
    "#!/bin/sh\\necho etcd Version: 3.7.3; echo Kubernetes v1.36.3; echo Client Version: v1.36.3";

/// A machine of its own: a Go on `PATH`, and a cache.
struct Machine {
    dir: TempDir,
}

impl Machine {
    /// Makes a machine whose Go runs this script, with `$out` being the binary
    /// to write; each call is noted in a file.
    fn with_go(script: &str) -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        machine.change_go(script);
        machine
    }

    fn change_go(&self, script: &str) {
        let path = self.path("bin/go");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let calls = self.path("calls");
        let find_out = r#"for arg in "$@"; do test "$last" = -o && out=$arg; last=$arg; done"#;
        let note = format!("echo \"$last\" >> {}", calls.display());
        fs::write(&path, format!("#!/bin/sh\n{find_out}\n{note}\n{script}\n")).unwrap();
        make_executable(&path);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
        command
            .args(["rig", "--tier", "1"])
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()))
            .env("SEAWORTHY_RIG_CACHE", self.path("cache"))
            .env_remove("SEAWORTHY_RIG_PATH")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.path("calls")).unwrap_or_default().lines().count()
    }
}

fn good_go() -> String {
    format!("printf '{GOOD_BINARY}\\n' > $out; chmod +x $out")
}

fn make_executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn what_was_built_once_is_found_again() {
    let machine = Machine::with_go(&good_go());
    let first = machine.command().output().unwrap();
    assert!(first.status.success(), "{}", said(&first));
    assert!(said(&first).contains("    Building kube-apiserver v1.36.3 (about 5 min; 2 of 5)"));
    assert_eq!(machine.calls(), 5);
    let second = machine.command().output().unwrap();
    assert!(second.status.success());
    assert_eq!(said(&second), "");
    assert_eq!(printed(&second).lines().filter(|line| line.contains("cached")).count(), 5);
    assert_eq!(machine.calls(), 5);
}

#[test]
fn a_binary_of_the_wrong_version_does_not_get_into_the_cache() {
    let machine = Machine::with_go("printf '#!/bin/sh\\necho v0.0.0\\n' > $out; chmod +x $out");
    for _ in 0..2 {
        let output = machine.command().output().unwrap();
        assert!(!output.status.success());
        let said = said(&output);
        assert!(said.contains("`etcd --version` did not print `etcd Version: 3.7.3`"), "{said}");
        assert!(said.contains("  | v0.0.0"), "{said}");
    }
    assert_eq!(machine.calls(), 10, "each run tries all five again");
}

#[test]
fn a_failure_shows_the_end_of_the_output_and_a_next_step() {
    let script = "echo 'go: dial tcp: lookup modules.example.com: no such host'; exit 1";
    let machine = Machine::with_go(script);
    let output = machine.command().output().unwrap();
    let said = said(&output);
    assert!(!output.status.success());
    assert!(said.contains("error: could not build etcd v3.7.3: go build"), "{said}");
    assert!(said.contains("  | go: dial tcp: lookup modules.example.com"), "{said}");
    assert!(said.contains("next  Go could not reach its module proxy"), "{said}");
    assert!(printed(&output).contains("kubectl                  missing"));
}

#[test]
fn without_go_it_says_what_to_install() {
    let machine = Machine::with_go("");
    fs::remove_file(machine.path("bin/go")).unwrap();
    // A directory of its own, since some distributions have /usr/bin/go.
    let output = machine.command().env("PATH", machine.path("bin")).output().unwrap();
    let said = said(&output);
    assert!(!output.status.success());
    assert_eq!(said.matches("Go is not installed").count(), 1, "{said}");
    assert!(said.contains("SEAWORTHY_RIG_PATH"), "{said}");
}

#[test]
fn a_given_binary_comes_before_all_else() {
    let machine = Machine::with_go(&good_go());
    let given = machine.path("given");
    fs::create_dir(&given).unwrap();
    fs::write(given.join("etcd"), "mine").unwrap();
    let output = machine.command().env("SEAWORTHY_RIG_PATH", &given).output().unwrap();
    let printed = printed(&output);
    let etcd = printed.lines().find(|line| line.starts_with("etcd")).unwrap();
    assert!(etcd.contains("given") && etcd.ends_with("given/etcd"), "{etcd}");
    assert_eq!(machine.calls(), 4);
}

#[test]
fn two_builders_build_each_component_once_and_the_second_says_for_whom_it_waits() {
    let machine = Machine::with_go("");
    let gate = machine.path("gate");
    // Not for ever, or a failure of this test would leave it behind.
    let wait =
        format!("for i in $(seq 600); do test -e {} && break; sleep 0.05; done", gate.display());
    machine.change_go(&format!("{wait}\n{}", good_go()));
    let start = || machine.command().spawn().unwrap();
    let first = start();
    wait_until(|| machine.calls() == 1);
    let second = start();
    let waits = |child: &Child| {
        let wchan = fs::read_to_string(format!("/proc/{}/syscall", child.id())).unwrap_or_default();
        // flock, on x86-64 and on arm64.
        wchan.starts_with("73 ") || wchan.starts_with("32 ")
    };
    wait_until(|| waits(&second));
    fs::write(&gate, "").unwrap();
    let holder = format!("Waiting for etcd: process {} is building it", first.id());
    let (first, second) = (first.wait_with_output().unwrap(), second.wait_with_output().unwrap());
    assert!(first.status.success() && second.status.success());
    assert!(said(&second).contains(&holder), "{}", said(&second));
    assert_eq!(machine.calls(), 5);
}

#[test]
fn an_interrupted_build_leaves_no_half_binary_and_is_done_again() {
    let machine = Machine::with_go("printf half > $out; exec sleep 60");
    let mut builder = machine.command().spawn().unwrap();
    let half = || walk(&machine.path("cache")).into_iter().find(|path| path.ends_with("bin/etcd"));
    wait_until(|| half().is_some());
    // As Ctrl-C would, the compiler is ended too.
    end_children(builder.id());
    builder.kill().unwrap();
    builder.wait().unwrap();
    machine.change_go(&good_go());
    let output = machine.command().output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let partial = walk(&machine.path("cache")).into_iter();
    let partial: Vec<_> =
        partial.filter(|path| path.to_string_lossy().contains("partial")).collect();
    assert_eq!(partial, Vec::<PathBuf>::new());
    let etcd = printed(&output);
    let etcd = etcd.lines().next().unwrap().split_whitespace().last().unwrap();
    assert!(fs::read_to_string(etcd).unwrap().contains("etcd Version"));
}

fn end_children(parent: u32) {
    let children = format!("/proc/{parent}/task/{parent}/children");
    for pid in fs::read_to_string(children).unwrap().split_whitespace() {
        let process = rig::process::Process::find(pid.parse().unwrap());
        process.unwrap().kill(rustix::process::Signal::KILL).unwrap();
    }
}

fn walk(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[track_caller]
#[expect(clippy::disallowed_methods, reason = "waits for another process")]
fn wait_until(mut condition: impl FnMut() -> bool) {
    for _ in 0..600 {
        if condition() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("waited for half a minute in vain");
}
