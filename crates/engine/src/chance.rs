//! Randomness as it is passed in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// A source of randomness. Clones share it; the same seed gives the same run.
#[derive(Clone, Debug)]
pub struct Chance {
    rng: Arc<Mutex<StdRng>>,
}

impl Chance {
    /// Randomness that can be repeated.
    pub fn seeded(seed: u64) -> Self {
        Self { rng: Arc::new(Mutex::new(StdRng::seed_from_u64(seed))) }
    }

    /// Randomness from the operating system.
    pub fn real() -> Self {
        Self { rng: Arc::new(Mutex::new(rand::make_rng())) }
    }

    /// Returns 128 random bits.
    pub fn bits(&self) -> u128 {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner).random()
    }

    /// Returns 32 random bytes, for keys.
    pub fn key(&self) -> [u8; 32] {
        self.rng.lock().unwrap_or_else(PoisonError::into_inner).random()
    }

    /// Returns something between nothing and `most`.
    pub fn up_to(&self, most: Duration) -> Duration {
        let share: f64 = self.rng.lock().unwrap_or_else(PoisonError::into_inner).random();
        most.mul_f64(share)
    }
}
