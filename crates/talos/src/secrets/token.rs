//! Tokens with which nodes introduce themselves.

use events::Secret;
use rand::{CryptoRng, RngExt as _};

const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const ID: usize = 6;
const SECRET: usize = 16;

/// A token such as `abcdef.0123456789abcdef`: six characters that identify it
/// and sixteen that prove it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(Secret);

/// A text that is no token. It is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a token: six and sixteen of a to z and 0 to 9, with a dot between")]
pub struct InvalidToken;

impl Token {
    /// Makes a token.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        let mut draw = |length| -> String {
            (0..length).map(|_| char::from(ALPHABET[rng.random_range(..ALPHABET.len())])).collect()
        };
        Self(Secret::new(format!("{}.{}", draw(ID), draw(SECRET))))
    }

    /// Reads a token.
    pub fn parse(text: &str) -> Result<Self, InvalidToken> {
        let fits = |part: &str, length| {
            part.len() == length && part.bytes().all(|byte| ALPHABET.contains(&byte))
        };
        match text.split_once('.') {
            Some((id, secret)) if fits(id, ID) && fits(secret, SECRET) => {
                Ok(Self(Secret::new(text)))
            }
            _ => Err(InvalidToken),
        }
    }

    /// Returns the token itself.
    pub fn secret(&self) -> &Secret {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    proptest! {
        #[test]
        fn what_is_made_can_be_read(seed: u64) {
            let token = Token::random(&mut StdRng::seed_from_u64(seed));
            prop_assert_eq!(Token::parse(token.secret().reveal()), Ok(token));
        }
    }

    #[test]
    fn others_are_refused() {
        for wrong in [
            "",
            ".",
            "abcdef0123456789abcdef",
            "ABCDEF.0123456789abcdef",
            "abcde.0123456789abcdef",
            "abcdef.0123456789abcde",
            "abcdef.0123456789abcdef.",
        ] {
            assert_eq!(Token::parse(wrong), Err(InvalidToken), "{wrong}");
        }
    }
}
