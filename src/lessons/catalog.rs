//! The lessons that are compiled in: their folders as text, read on first use.

use std::sync::OnceLock;

use super::format::Lesson;
use super::telling::Telling;
use crate::i18n::Language;

/// A lesson's folder.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its name, which is the lesson's.
    pub id: String,
    /// Its files: name and text.
    pub files: Vec<(String, String)>,
}

macro_rules! folders {
    ($($id:literal: [$($file:literal),* $(,)?]),* $(,)?) => {
        /// Every lesson, in the order in which they are offered.
        const FOLDERS: &[(&str, &[(&str, &str)])] = &[
            $(($id, &[$(($file, include_str!(concat!("../../lessons/", $id, "/", $file)))),*])),*
        ];
    };
}

folders! {
    "from-apply-to-ready": ["lesson.yaml", "en.md", "ko.md", "shop.yaml"],
}

/// A lesson with its words.
#[derive(Clone, Debug)]
pub struct Told {
    /// The lesson.
    pub lesson: Lesson,
    /// Its words, in the order of [`Language::ALL`].
    pub tellings: Vec<(Language, Telling)>,
}

impl Folder {
    /// The text of one file.
    pub fn file(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Reads the lesson and its words.
    ///
    /// # Errors
    /// A sentence that names what is wrong.
    pub fn read(&self) -> Result<Told, String> {
        let text = self.file("lesson.yaml").ok_or("there is no lesson.yaml")?;
        let file = |name: &str| self.file(name).map(str::to_string);
        let lesson = Lesson::read(&self.id, text, file).map_err(|error| format!("lesson.yaml: {error}"))?;
        let mut tellings = Vec::new();
        for language in Language::ALL {
            let name = format!("{}.md", language.tag());
            let text = self.file(&name).ok_or(format!("there is no {name}"))?;
            let telling = Telling::read(text).map_err(|error| format!("{name}: {error}"))?;
            tellings.push((language, telling));
        }
        Ok(Told { lesson, tellings })
    }
}

impl Told {
    /// The words in a language.
    pub fn telling(&self, language: Language) -> &Telling {
        let found = self.tellings.iter().find(|(of, _)| *of == language).or(self.tellings.first());
        &found.expect("a lesson is told in every language").1
    }
}

/// Every lesson that is compiled in, in the order in which they are offered.
pub fn all() -> &'static [Told] {
    static LESSONS: OnceLock<Vec<Told>> = OnceLock::new();
    LESSONS.get_or_init(|| {
        let folder = |(id, files): &(&str, &[(&str, &str)])| Folder {
            id: (*id).to_string(),
            files: files.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string())).collect(),
        };
        // A lesson that cannot be read is left out; a test rules it out.
        FOLDERS.iter().filter_map(|entry| folder(entry).read().ok()).collect()
    })
}

/// One lesson by name.
pub fn lesson(id: &str) -> Option<&'static Told> {
    all().iter().find(|told| told.lesson.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_can_be_read() {
        assert_eq!(all().len(), FOLDERS.len());
    }

    #[test]
    fn every_folder_of_lessons_is_compiled_in_with_every_file() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons");
        for entry in std::fs::read_dir(root).unwrap() {
            let path = entry.unwrap().path();
            if !path.is_dir() {
                continue;
            }
            let id = path.file_name().unwrap().to_str().unwrap();
            let (_, files) = FOLDERS.iter().find(|(known, _)| *known == id).expect(id);
            for file in std::fs::read_dir(&path).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                assert!(files.iter().any(|(known, _)| *known == name), "{id}/{name} is not compiled in");
            }
        }
    }
}
