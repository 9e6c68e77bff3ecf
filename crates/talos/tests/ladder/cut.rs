//! Connections that break, at any byte of what the node says: simulated only,
//! since no real node breaks where it is told to.

use std::net::Ipv4Addr;
use std::time::Duration;

use events::{Arrival, Class, Role as NodeRole};
use talos::client::{Client, ClientError, Deadlines, Node, Reason};
use talos::probe::{Mode, probe};

use crate::climber::{Climber, until};
use crate::ground::{Ground, api};

/// How far apart the bytes are at which a change is cut off.
const STEP: u64 = 97;

fn cut(climber: &Climber, address: Ipv4Addr, bytes: Option<u64>) {
    let Ground::Simulated(simulated) = &climber.ground else { panic!("it is simulated") };
    simulated.node(address).turn(|knobs| knobs.cut_after_bytes = bytes);
}

fn is_broken(error: &ClientError) -> bool {
    matches!(error.reason, Reason::Closed | Reason::Lost(_))
}

async fn ask(address: Ipv4Addr) -> Result<(), ClientError> {
    let read = Duration::from_secs(20);
    let deadlines = Deadlines { read, connect: read, ..Deadlines::default() };
    let client = Node { deadlines, ..api(address) }.maintenance(None).await?;
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
        cut(&climber, address, Some(bytes));
        match ask(address).await {
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
        cut(&climber, address, Some(bytes));
        let applied = give(&climber, address, &config).await;
        let Ground::Simulated(simulated) = &climber.ground else { unreachable!() };
        let taken = simulated.node(address).config().is_some();
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
    let admin = climber.identity(talos::credentials::Role::Admin);
    until("an administrator", async || api(address).prove_admin(&admin).await).await;
}

crate::on_both_grounds! { the_old_connection_ends_with_maintenance_mode }
