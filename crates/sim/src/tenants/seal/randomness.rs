//! Randomness as the RSA library wants it.

use rand::Rng as _;
use rand::rngs::StdRng;
use rsa::rand_core as old;

/// A seeded source in the dress of the RSA library's traits.
pub(super) struct Randomness(pub(super) StdRng);

impl old::RngCore for Randomness {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), old::Error> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

impl old::CryptoRng for Randomness {}
