//! The page: starts the front end in the document's body.

fn main() {
    kubestep::ui::start();
}
