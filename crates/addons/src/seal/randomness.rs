//! Randomness as the RSA library wants it.

use rand::CryptoRng;
use rsa::rand_core as old;

/// A source of today's traits in the dress of the RSA library's.
pub(super) struct Randomness<'a, R>(pub(super) &'a mut R);

impl<R: CryptoRng> old::RngCore for Randomness<'_, R> {
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

impl<R: CryptoRng> old::CryptoRng for Randomness<'_, R> {}
