//! What the tests work with: a bundle that is made in milliseconds.

use jiff::Timestamp;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use talos::pki::PrivateKey;
use talos::secrets::Bundle;

/// A time at which nothing in these tests has expired.
pub(crate) fn now() -> Timestamp {
    events::Clock::real().now()
}

pub(crate) fn rng(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// A bundle with a quick key for service accounts, as Talos accepts it.
pub(crate) fn bundle(seed: u64) -> Bundle {
    Bundle::generate(PrivateKey::p256().unwrap(), now(), &mut rng(seed)).unwrap()
}
