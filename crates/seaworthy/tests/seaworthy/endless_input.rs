//! Manifests from a pipe that does not end.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::workplace::Workplace;

const COMMANDS: [&str; 6] = ["apply", "diff", "drift", "wait", "delete", "explain"];

fn start(workplace: &Workplace, command: &str, timeout: &str) -> Child {
    let mut command = workplace.command([command, "-f", "-", "--timeout", timeout]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(mut child: Child) -> (Option<i32>, String) {
    // Open until the end: nothing else may have ended it.
    let input = child.stdin.take();
    let mut said = String::new();
    child.stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
    let exit = child.wait().unwrap().code();
    drop(input);
    (exit, said)
}

#[test]
fn the_timeout_holds_for_what_is_piped_in() {
    let workplace = Workplace::new();
    for command in COMMANDS {
        let (exit, said) = end(start(&workplace, command, "1s"));
        assert_eq!(exit, Some(2), "{command}: {said}");
        let told = "could not read stdin: it has not ended within 1s";
        assert!(said.contains(told) && said.contains("`--timeout`"), "{command}: {said}");
    }
}

#[test]
fn ctrl_c_ends_it_as_it_ends_everything_else() {
    let workplace = Workplace::new();
    for command in COMMANDS {
        let child = start(&workplace, command, "1m");
        let pid = Pid::from_raw(child.id().try_into().unwrap()).unwrap();
        listens_for_signals(&child);
        kill_process(pid, Signal::INT).unwrap();
        let (exit, said) = end(child);
        assert_eq!(exit, Some(5), "{command}: {said}");
        assert!(said.contains("stopped by Ctrl-C; nothing was changed"), "{command}: {said}");
    }
}

/// Waits until the process has said that it takes Ctrl-C itself.
#[expect(clippy::disallowed_methods, reason = "another process moves on without our clock")]
fn listens_for_signals(child: &Child) {
    let takes = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let mask = u64::from_str_radix(line.trim(), 16).ok()?;
        Some(mask & (1 << (Signal::INT.as_raw() - 1)) != 0)
    };
    for _ in 0..600 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        if takes(status) == Some(true) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it never took Ctrl-C");
}
