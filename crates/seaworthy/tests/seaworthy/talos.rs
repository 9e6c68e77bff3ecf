//! `talos probe`, at real nodes and at what is none.

use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::workplace::Workplace;

const PATIENCE: Duration = Duration::from_mins(3);

/// Repeats until it works. Refused at once while a node starts: it is time that
/// has to pass, not a number of tries.
#[expect(clippy::disallowed_methods, reason = "a real node takes real time")]
pub(crate) fn until<T>(mut look: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match look() {
            Ok(seen) => return seen,
            Err(why) => assert!(Instant::now() < deadline, "{why}"),
        }
        sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_closed_port_is_told_with_what_to_do() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let workplace = Workplace::new();
    let ran = workplace.run(["talos", "probe", &port.to_string()]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stdout.contains("unreachable") && ran.stdout.contains("next  "), "{ran}");
    let answer = format!("answer  connection refused, at {port}\n");
    assert!(ran.stdout.contains(&answer), "{ran}");
    let ran = workplace.run(["talos", "probe", &port.to_string(), "-o", "json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let facts = json!([
        { "name": "mode", "value": "unreachable" },
        { "name": "answer", "value": "connection refused" },
    ]);
    assert_eq!(told[0]["facts"], facts, "nothing else was seen");
}

/// A node does so for a moment, and a load balancer without a target for ever.
#[test]
fn a_connection_that_is_closed_at_once_is_not_taken_for_a_node() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    spawn(move || while port.accept().is_ok() {});
    let ran = Workplace::new().run(["talos", "probe", &address]);
    assert_eq!(ran.exit, 3, "{ran}");
    assert!(ran.stdout.contains("or a load balancer has no healthy target"), "{ran}");
    assert!(ran.stdout.contains("next  Wait some seconds; if it lasts, dial the node"), "{ran}");
}

/// Whoever asked one after the other would end the first before the second: a
/// connection that says nothing is open until its timeout.
#[test]
fn many_addresses_are_asked_at_once() {
    const MANY: usize = 200;
    let port = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().to_string();
    let args = ["talos", "probe", "-o", "json", "--timeout", "1m"].map(str::to_owned);
    let args: Vec<_> = args.into_iter().chain(vec![address; MANY]).collect();
    let probe = spawn(move || Workplace::new().run(args));
    let (arrived, arrivals) = mpsc::channel();
    spawn(move || port.incoming().flatten().try_for_each(|stream| arrived.send(stream)));
    let mut held: Vec<TcpStream> = Vec::new();
    while held.len() < MANY {
        held.push(arrivals.recv_timeout(PATIENCE).expect("all of them are asked"));
        let given_up = held.iter_mut().map(is_closed).filter(|closed| *closed).count();
        assert_eq!(given_up, 0, "of {}, before the last was asked", held.len());
    }
    // What nobody answers is closed, and the probe need not wait any more.
    drop(held);
    let ran = probe.join().unwrap();
    assert_eq!(ran.exit, 3, "{ran}");
    let told: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(told.len(), MANY);
    assert!(told.iter().all(|one| one["mode"] == "in transition"), "{ran}");
}

/// Reads what the other side has said so far, and tells whether that was all.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn files_that_are_no_talosconfig_are_named() {
    let workplace = Workplace::new();
    workplace.write("mine", "contexts: [");
    let ran = workplace.run(["talos", "probe", "127.0.0.1", "--talosconfig", "mine"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.starts_with("error: could not use mine: "), "{ran}");
    let ran = workplace.run(["talos", "probe", "127.0.0.1", "--secrets", "absent"]);
    assert_eq!(ran.exit, 2, "{ran}");
    assert!(ran.stderr.starts_with("error: could not read absent: "), "{ran}");
    assert!(ran.stderr.contains("hint: `talosctl gen secrets` writes such a file"), "{ran}");
}

#[test]
fn a_real_node_waits_in_maintenance_mode() {
    let Some(mut talos) = rig::need::talos() else { return };
    let address = talos.add("bare").unwrap().address().to_string();
    let workplace = Workplace::new();
    let ran = until(|| {
        let ran = workplace.run(["talos", "probe", &address, "--timeout", "1s"]);
        if ran.exit == 0 { Ok(ran) } else { Err(ran.to_string()) }
    });
    assert!(ran.stdout.contains("maintenance    The node waits for its config"), "{ran}");
    assert!(ran.stdout.contains("fingerprint  "), "{ran}");
}
