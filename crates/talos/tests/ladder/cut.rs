//! Connections that break, at any byte of what either side says: simulated
//! only, since no real node breaks where it is told to.

use std::net::Ipv4Addr;
use std::time::Duration;

use events::{Arrival, Class, Role as NodeRole};
use talos::client::{Client, ClientError, Deadlines, Node, Reason};
use talos::credentials::{Identity, Role};
use talos::probe::{Mode, probe};

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};
use crate::simulated::Simulated;

/// How far apart the bytes are at which a change is cut off.
const STEP: u64 = 97;
/// The same for an answer of few bytes.
const SMALL_STEP: u64 = 29;

/// Whose bytes are counted.
#[derive(Clone, Copy, Debug)]
enum Words {
    OfTheNode,
    Ours,
}

fn simulated(climber: &Climber) -> &Simulated {
    let Ground::Simulated(simulated) = &climber.ground else { panic!("it is simulated") };
    simulated
}

fn cut(climber: &Climber, address: Ipv4Addr, words: Words, bytes: Option<u64>) {
    simulated(climber).node(address).turn(|knobs| match words {
        Words::OfTheNode => knobs.cut_after_bytes = bytes,
        Words::Ours => knobs.cut_after_received = bytes,
    });
}

fn is_broken(error: &ClientError) -> bool {
    matches!(error.reason, Reason::Closed | Reason::Lost(_))
}

/// Asks as an administrator, or in maintenance mode.
async fn ask(address: Ipv4Addr, admin: Option<&Identity>) -> Result<(), ClientError> {
    let read = Duration::from_secs(20);
    let deadlines = Deadlines { read, connect: read, ..Deadlines::default() };
    let node = Node { deadlines, ..api(address) };
    let client = match admin {
        Some(admin) => node.authenticated(admin).await?,
        None => node.maintenance(None).await?,
    };
    client.machine_status().await.map(drop)
}

/// It is always told as a broken connection, which passes by itself, and never
/// as a deadline, a refusal or nonsense.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_cut_off_at_any_byte() {
    let mut climber = Climber::new(Ground::simulated());
    let address = climber.machine("cp-1").await;
    let mut bytes = 0;
    loop {
        cut(&climber, address, Words::OfTheNode, Some(bytes));
        match ask(address, None).await {
            Ok(()) => break,
            Err(error) => {
                assert!(is_broken(&error), "after {bytes} bytes: {error:?}");
                assert_eq!(error.class(), Class::Transient);
            }
        }
        let mode = probe(api(address).address, None, Duration::from_secs(20)).await.mode;
        let known = matches!(mode, Mode::InTransition | Mode::Maintenance);
        assert!(known, "after {bytes} bytes: {mode:?}");
        bytes += 1;
    }
    assert!(bytes > 700, "a certificate and an answer are longer than {bytes} bytes");
}

/// Who lost sight of a machine that writes its config down waits for that.
async fn is_taken(climber: &Climber, address: Ipv4Addr) -> bool {
    let node = simulated(climber).node(address);
    node.settled().await;
    node.config().is_some()
}

/// Where the client says that nothing was changed, nothing was; where it says
/// that all went well, it did. In doubt it says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_config_is_cut_off_here_and_there() {
    let mut climber = Climber::new(Ground::simulated());
    let (mut bytes, mut doubts) = (0, 0);
    for place in 1.. {
        let name = format!("cp-{place}");
        let address = climber.machine(&name).await;
        let config = climber.config(address, &name, NodeRole::ControlPlane);
        cut(&climber, address, Words::OfTheNode, Some(bytes));
        let applied = give(&climber, address, &config).await;
        let taken = is_taken(&climber, address).await;
        match applied {
            Ok(()) => {
                assert!(taken);
                break;
            }
            Err(error) => {
                assert!(is_broken(&error), "after {bytes} bytes: {error:?}");
                assert!(error.arrival == Arrival::Maybe || !taken, "after {bytes} bytes");
                doubts += usize::from(taken);
            }
        }
        bytes += STEP;
    }
    assert!(bytes > 700, "it went well after {bytes} bytes");
    assert!(doubts > 0, "an answer was lost whose change was made");
}

/// As much of it as has come is not taken for the whole.
#[tokio::test(flavor = "multi_thread")]
async fn a_config_is_cut_off_on_its_way() {
    let mut climber = Climber::new(Ground::simulated());
    let address = climber.machine("cp-1").await;
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let mut bytes = 0;
    loop {
        cut(&climber, address, Words::Ours, Some(bytes));
        let applied = give(&climber, address, &config).await;
        let taken = is_taken(&climber, address).await;
        let Err(error) = applied else { break assert!(taken) };
        assert!(is_broken(&error), "after {bytes} bytes: {error:?}");
        if taken {
            break assert_eq!(error.arrival, Arrival::Maybe, "after {bytes} bytes");
        }
        bytes += STEP;
    }
    let length = config.yaml().reveal().len() as u64;
    assert!(bytes > length, "a config of {length} bytes was taken after {bytes}");
}

/// With mutual TLS more is said before the first answer; what is told of it is
/// the same, and never that the node refuses our certificate.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_is_cut_off_at_any_byte() {
    let mut climber = Climber::new(Ground::simulated());
    let (address, _) = climber.authenticated("cp-1").await;
    let admin = climber.identity(Role::Admin);
    for words in [Words::OfTheNode, Words::Ours] {
        let mut bytes = 0;
        loop {
            cut(&climber, address, words, Some(bytes));
            let Err(error) = ask(address, Some(&admin)).await else { break };
            assert!(is_broken(&error), "{words:?}, after {bytes} bytes: {error:?}");
            assert_eq!(error.class(), Class::Transient);
            bytes += 1;
        }
        cut(&climber, address, words, None);
        assert!(bytes > 700, "{words:?}: certificates are longer than {bytes} bytes");
    }
}

/// Nobody is told that it did not arrive where it did: it must never be sent
/// twice. Where it did not, byte after byte is tried on one machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_is_cut_off_here_and_there() {
    for words in [Words::OfTheNode, Words::Ours] {
        let (mut bytes, mut doubts, mut went_well) = (0, 0, false);
        while !went_well {
            let (climber, address) = awaiting_bootstrap().await;
            let mut taken = false;
            while !taken {
                cut(&climber, address, words, Some(bytes));
                let target = format!("cp-1, cut after {bytes} bytes, {words:?}");
                let began = begin(&climber, address, &target).await;
                taken = simulated(&climber).has_done("MachineService/Bootstrap", "cp-1");
                went_well = began.is_ok();
                if let Err(error) = began {
                    assert!(is_broken(&error), "{target}: {error:?}");
                    assert!(error.arrival == Arrival::Maybe || !taken, "{target}: {error:?}");
                    doubts += usize::from(taken);
                }
                assert!(taken || !went_well, "{target}: it went well, and nothing was begun");
                bytes += if taken { SMALL_STEP } else { 1 };
            }
        }
        assert!(bytes > 700, "{words:?}: it went well after {bytes} bytes");
        let of_the_node = matches!(words, Words::OfTheNode);
        assert!(doubts > 0 || !of_the_node, "an answer was lost whose bootstrap was begun");
    }
}

async fn begin(climber: &Climber, address: Ipv4Addr, target: &str) -> Result<(), ClientError> {
    let client = api(address).authenticated(&climber.identity(Role::Admin)).await?;
    climber.bootstrap(&client, target).await
}

/// Each has a ground of its own, where it has nobody to join.
async fn awaiting_bootstrap() -> (Climber, Ipv4Addr) {
    let mut climber = Climber::new(Ground::simulated());
    let (address, client) = climber.authenticated("cp-1").await;
    climber.etcd_waits(&client).await;
    (climber, address)
}

async fn give(
    climber: &Climber,
    address: Ipv4Addr,
    config: &talos::config::MachineConfig,
) -> Result<(), ClientError> {
    let client = api(address).maintenance(None).await?;
    climber.apply(&client, config).await.map(drop)
}

/// The node itself ends the connection on which it took its config.
async fn the_old_connection_ends_with_maintenance_mode(ground: Ground) {
    let mut climber = Climber::new(ground);
    let address = climber.machine("cp-1").await;
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let client: Client = api(address).maintenance(None).await.unwrap();
    assert!(!client.ends(Duration::from_millis(50)).await, "nothing has happened yet");
    climber.apply(&client, &config).await.unwrap();
    assert!(client.ends(Duration::from_mins(1)).await, "its API restarts");
    let error = client.version().await.unwrap_err();
    assert!(is_broken(&error), "{error:?}");
    let admin = climber.identity(Role::Admin);
    until("an administrator", async || api(address).prove_admin(&admin).await).await;
}

crate::on_both_grounds! { the_old_connection_ends_with_maintenance_mode }
