//! Links of every version are read for ever, and bad ones are refused with a sentence, never with a panic or a hang.

use std::fs;
use std::path::{Path, PathBuf};

use kubestep::i18n::Language;
use kubestep::share::{Replay, link};

fn links(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/share").join(folder);
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("so can its entries").path()).collect();
    files.sort();
    files
}

#[test]
fn links_made_long_ago_are_read_and_can_be_played() {
    for file in links("good") {
        let shared = link::decode(&fs::read_to_string(&file).unwrap()).expect("an old link is read");
        let history = Replay::new(&shared).finish();
        assert_eq!(history.current().log.len(), shared.commands.len(), "{}", file.display());
    }
}

#[test]
fn bad_links_are_refused_with_a_sentence_in_every_language() {
    for file in links("bad") {
        let text = fs::read_to_string(&file).unwrap();
        let error = link::decode(text.trim_end()).expect_err(&file.display().to_string());
        for language in Language::ALL {
            let sentence = error.sentence(language);
            assert!(
                sentence.ends_with('.') && !sentence.contains(error.key),
                "{}: {sentence}",
                file.display()
            );
        }
    }
}

#[test]
fn a_good_link_with_any_letter_changed_is_read_or_refused() {
    for file in links("good") {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.trim_end();
        for at in (0..text.len()).step_by(7) {
            let mut changed = text.as_bytes().to_vec();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            // Either way is fine; a panic is not.
            let _ = link::decode(&String::from_utf8(changed).unwrap());
            let _ = link::decode(&text[..at]);
        }
    }
}
