//! Moves that are wrong at one moment only: simulated, since no real node waits
//! in it for us.

use std::net::Ipv4Addr;

use events::{Arrival, Class, Role as NodeRole};
use sim::talos::Knobs;
use talos::client::Reason;

use crate::climber::Climber;
use crate::ground::{Ground, api};

/// How much slower a disk is on which a config takes seconds to be written.
const CRAWL: u32 = 2_000;

fn turn(climber: &Climber, address: Ipv4Addr, change: impl FnOnce(&mut Knobs)) {
    let Ground::Simulated(simulated) = &climber.ground else { panic!("it is simulated") };
    simulated.node(address).turn(change);
}

/// The one that comes second is told so, and changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn two_configs_at_once() {
    let mut climber = Climber::new(Ground::simulated());
    let address = climber.machine("cp-1").await;
    let config = climber.config(address, "cp-1", NodeRole::ControlPlane);
    let [one, other] = [(); 2].map(|()| api(address));
    let one = one.maintenance(None).await.unwrap();
    let other = other.maintenance(None).await.unwrap();
    turn(&climber, address, |knobs| knobs.disk_slowness = CRAWL);
    let both = tokio::join!(climber.apply(&one, &config), climber.apply(&other, &config));
    let ((Ok(_), Err(error)) | (Err(error), Ok(_))) = both else { panic!("{both:?}") };
    assert_eq!(error.reason, Reason::ApplyInProgress);
    assert_eq!((error.class(), error.arrival), (Class::Conflict, Arrival::No));
    turn(&climber, address, |knobs| knobs.disk_slowness = 1);
    let client = climber.admin(address).await;
    climber.apply(&client, &config).await.expect("nobody else is at it any more");
}

/// Since 1.14, where an unattended install begins just then. It ends, and until
/// then nothing was begun.
#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_into_an_unattended_install() {
    let mut climber = Climber::new(Ground::simulated());
    let (address, client) = climber.authenticated("cp-1").await;
    climber.etcd_waits(&client).await;
    turn(&climber, address, |knobs| knobs.installs_under_bootstrap = true);
    let error = climber.bootstrap(&client, "meanwhile").await.unwrap_err();
    let words = "bootstrap is not allowed during unattended install (phase: pending)".to_owned();
    assert_eq!(error.reason, Reason::NotYetAvailable(words));
    assert_eq!((error.class(), error.arrival), (Class::Transient, Arrival::No));
    turn(&climber, address, |knobs| knobs.installs_under_bootstrap = false);
    climber.begin_etcd(&client).await;
    climber.etcd_is_sound(&client).await;
}
