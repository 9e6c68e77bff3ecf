//! A network of a command's own, in which the addresses of real machines lead
//! elsewhere. It has nothing but a loopback with those addresses; what listens on
//! them stands with one foot in the test's network, where the machines are.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A network in which addresses lead elsewhere, for as long as this is kept.
pub(crate) struct Detour {
    /// A process whose network it is. It ends with its input, so that it does not
    /// outlive a test that was killed.
    keeper: Child,
}

/// Gives the loopback the addresses, says so, and stays.
const KEEP: &str = "ip link set lo up || exit 1
for address; do ip address add \"$address/32\" dev lo || exit 1; done
echo ready
exec cat";

impl Detour {
    /// A network with these addresses, on which nobody listens yet.
    pub(crate) fn at(addresses: &[IpAddr]) -> Self {
        let mut keeper = Command::new("unshare");
        keeper.args(["--net", "sh", "-c", KEEP, "sh"]);
        keeper.args(addresses.iter().map(ToString::to_string));
        let mut keeper = keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        Self { keeper }
    }

    /// Listens there; whoever accepts is in the test's own network.
    pub(crate) fn listen(&self, at: SocketAddr) -> TcpListener {
        let network = File::open(self.network()).unwrap();
        let there = thread::spawn(move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            TcpListener::bind(at).unwrap()
        });
        there.join().unwrap()
    }

    /// Lets an address lead where it always does.
    pub(crate) fn pass(&self, at: SocketAddr) {
        let listener = self.listen(at);
        thread::spawn(move || {
            for caller in listener.incoming() {
                let caller = caller.unwrap();
                // Who is not there refuses the caller by closing the connection.
                thread::spawn(move || drop(relay(&caller, at)));
            }
        });
    }

    /// The same command, in this network.
    pub(crate) fn take(&self, command: &Command) -> Command {
        let mut detoured = Command::new("nsenter");
        detoured.arg(format!("--net={}", self.network())).arg("--");
        detoured.arg(command.get_program()).args(command.get_args());
        detoured.env_clear().stdin(Stdio::null());
        detoured.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        detoured.current_dir(command.get_current_dir().unwrap());
        detoured
    }

    fn network(&self) -> String {
        format!("/proc/{}/ns/net", self.keeper.id())
    }
}

impl Drop for Detour {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn relay(caller: &TcpStream, to: SocketAddr) -> io::Result<()> {
    let machine = TcpStream::connect(to)?;
    thread::scope(|scope| {
        scope.spawn(|| pour(caller, &machine));
        pour(&machine, caller);
    });
    Ok(())
}

/// Passes on what comes, and that nothing more comes.
fn pour(mut from: &TcpStream, mut to: &TcpStream) {
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}
