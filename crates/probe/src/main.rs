//! The one program in the image of a probe pod.
//!
//! **What it is for.** A pod on every node that answers, and dials others when
//! it is asked to: so the way between two pods is tried by the pods themselves.
//! It speaks as `agnhost netexec` of the Kubernetes project does, as far as the
//! probes need it, so that either image serves.
//!
//! ```text
//!  GET /healthz                               ready
//!  GET /hostname                              the pod's name
//!  GET /echo?msg=TEXT                         TEXT
//!  GET /dial?host=H&port=P&request=PATH       what http://H:P/PATH answers, as JSON
//! ```
//!
//! **What it is not.** No shell, no file, no name of its own to trust: the image
//! holds this file alone, runs as nobody and writes nothing. Nothing but the
//! standard library is linked, and statically, so that it runs on any node.

mod dial;
mod names;
mod query;
mod server;

use std::process::ExitCode;

/// As `agnhost netexec` has it.
const DEFAULT_PORT: u16 = 8080;

#[expect(clippy::print_stderr, reason = "a pod's log is all that it has to say things")]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match port(&args) {
        Ok(port) => match server::serve(port) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: could not listen on port {port}: {error}");
                ExitCode::FAILURE
            }
        },
        Err(why) => {
            eprintln!("error: {why}\nusage: probe netexec [--http-port=PORT] [--udp-port=-1]");
            ExitCode::from(2)
        }
    }
}

/// Reads the arguments that probe pods are started with.
fn port(args: &[String]) -> Result<u16, String> {
    let Some((command, flags)) = args.split_first() else { return Ok(DEFAULT_PORT) };
    if command != "netexec" {
        return Err(format!("there is no command `{command}`"));
    }
    let mut port = DEFAULT_PORT;
    for flag in flags {
        match flag.split_once('=') {
            Some(("--http-port", number)) => {
                port = number.parse().map_err(|_| format!("`{number}` is no port"))?;
            }
            // Only what is not served can be asked for.
            Some(("--udp-port", "-1")) => {}
            _ => return Err(format!("there is no flag `{flag}`")),
        }
    }
    Ok(port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_a_probe_pod_are_read() {
        let port =
            |args: &[&str]| port(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>());
        assert_eq!(port(&[]), Ok(8080));
        assert_eq!(port(&["netexec", "--http-port=81", "--udp-port=-1"]), Ok(81));
        assert_eq!(port(&["shell"]), Err("there is no command `shell`".to_owned()));
        assert_eq!(port(&["netexec", "--http-port=x"]), Err("`x` is no port".to_owned()));
        assert_eq!(
            port(&["netexec", "--udp-port=5"]),
            Err("there is no flag `--udp-port=5`".to_owned())
        );
    }
}
