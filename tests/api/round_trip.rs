//! Properties of the round trip through the server's types.
