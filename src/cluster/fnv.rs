//! FNV-1a: a fixed spreading of bytes over numbers, the same on every platform. For names, never for safety.

/// The 32-bit hash of the bytes.
pub fn fnv1a_32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The 64-bit hash of the bytes.
pub fn fnv1a_64(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let spread = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, spread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vectors_come_out() {
        assert_eq!((fnv1a_32([]), fnv1a_64([])), (0x811c_9dc5, 0xcbf2_9ce4_8422_2325));
        assert_eq!((fnv1a_32(*b"a"), fnv1a_64(*b"a")), (0xe40c_292c, 0xaf63_dc4c_8601_ec8c));
        assert_eq!((fnv1a_32(*b"foobar"), fnv1a_64(*b"foobar")), (0xbf9c_f968, 0x8594_4171_f739_67e8));
    }
}
