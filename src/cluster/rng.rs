//! Seeded random streams: the same bits on every platform.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::fnv::fnv1a_64;

/// One component's stream of random numbers: ChaCha8 over (seed, stream), at a position.
///
/// Only the position is state, so that a cluster compares and prints by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    stream: u64,
    /// How many 64-bit numbers were drawn.
    drawn: u64,
}

/// The letters of generated names: no vowels and no look-alikes, so that no words appear.
///
/// Models: `apimachinery/pkg/util/rand`.
pub const NAME_ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Stream {
    /// The stream of that name under that seed.
    pub fn new(seed: u64, name: &str) -> Self {
        Self { seed, stream: fnv1a_64(name.bytes()), drawn: 0 }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        generator.set_stream(self.stream);
        generator.set_word_pos(u128::from(self.drawn) * 2);
        self.drawn += 1;
        generator.next_u64()
    }

    /// A number from 0 to `bound` - 1. The bias is below 2⁻³² for the bounds used here.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "a draw needs at least one outcome");
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u32::try_from(wide >> 64).expect("a 64-bit fraction of a 32-bit bound fits 32 bits")
    }

    /// `length` letters of [`NAME_ALPHABET`].
    pub fn name_suffix(&mut self, length: u8) -> String {
        (0..length).map(|_| char::from(NAME_ALPHABET[self.below(27) as usize])).collect()
    }

    /// A version-4 UUID.
    pub fn uuid(&mut self) -> String {
        let bits = (u128::from(self.next_u64()) << 64) | u128::from(self.next_u64());
        let bits = (bits & !(0xf << 76) | (0x4 << 76)) & !(0x3 << 62) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_gives_the_same_numbers_everywhere() {
        let mut stream = Stream::new(42, "apiserver");
        assert_eq!([stream.next_u64(), stream.next_u64()], [RECORDED[0], RECORDED[1]]);
    }

    /// Recorded once; a change here breaks every shared link.
    const RECORDED: [u64; 2] = [11_803_214_548_682_710_217, 7_914_738_282_714_814_115];

    #[test]
    fn streams_of_different_names_differ() {
        assert_ne!(Stream::new(1, "a").next_u64(), Stream::new(1, "b").next_u64());
    }

    #[test]
    fn names_and_ids_have_their_shape() {
        let mut stream = Stream::new(7, "test");
        let suffix = stream.name_suffix(5);
        assert!(suffix.len() == 5 && suffix.bytes().all(|b| NAME_ALPHABET.contains(&b)));
        let uuid = stream.uuid();
        assert_eq!(uuid.len(), 36);
        assert_eq!(&uuid[14..15], "4");
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"));
    }
}
