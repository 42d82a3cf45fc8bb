//! Recorded cases of the group `invalid`: how the server refuses a manifest.
