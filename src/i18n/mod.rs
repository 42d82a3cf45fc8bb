//! Catalogues.
