//! One copy of what many objects hold alike.
//!
//! Nobody can tell from a value whether it is shared: these types say what they hold, and only take less room.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde_json::Value;

use super::codec::{Codec, CodecError};

/// How many values are looked through.
const KEPT: usize = 32;

/// Longer texts are rarely said twice.
const LONGEST_BYTES: usize = 64;

/// The values that were shared last, the latest first: what is made a thousand times in a row is kept once.
#[derive(Debug)]
pub struct Recent<T>(RefCell<VecDeque<Arc<T>>>);

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: PartialEq> Recent<T> {
    /// The value, in the place of an equal one if there was one lately.
    pub fn share(&self, value: T) -> Arc<T> {
        self.find(|known| *known == value).unwrap_or_else(|| self.keep(Arc::new(value)))
    }

    fn find(&self, is_it: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        let mut kept = self.0.borrow_mut();
        let at = kept.iter().position(|known| is_it(known))?;
        kept.swap(0, at);
        Some(Arc::clone(&kept[0]))
    }

    fn keep(&self, value: Arc<T>) -> Arc<T> {
        let mut kept = self.0.borrow_mut();
        kept.truncate(KEPT - 1);
        kept.push_front(Arc::clone(&value));
        value
    }
}

/// A text that many objects repeat: a phase, an image, a condition's type. As wide as a pointer.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word(Option<Arc<Box<str>>>);

impl Word {
    /// The text.
    pub fn as_str(&self) -> &str {
        self
    }
}

impl Deref for Word {
    type Target = str;
    fn deref(&self) -> &str {
        self.0.as_deref().map_or("", |text| text)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        thread_local!(static RECENT: Recent<Box<str>> = Recent::default());
        let new = || Arc::new(Box::from(text));
        Self(match text.len() {
            0 => None,
            1..=LONGEST_BYTES => {
                Some(RECENT.with(|recent| {
                    recent.find(|known| **known == *text).unwrap_or_else(|| recent.keep(new()))
                }))
            }
            _ => Some(new()),
        })
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<&String> for Word {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        word.to_string()
    }
}

impl From<&Word> for String {
    fn from(word: &Word) -> Self {
        word.to_string()
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq<str> for Word {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Word {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Word {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PartialEq<Word> for String {
    fn eq(&self, other: &Word) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PartialEq<Word> for &str {
    fn eq(&self, other: &Word) -> bool {
        *self == other.as_str()
    }
}

impl Codec for Word {
    fn decode(value: Value) -> Result<Self, CodecError> {
        String::decode(value).map(Self::from)
    }
    fn encode(&self) -> Value {
        Value::String(self.to_string())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

/// What [`Shared`] stands for when it holds nothing.
pub trait Empty: Clone + Default + PartialEq + fmt::Debug + 'static {
    /// The empty one.
    const EMPTY: &'static Self;
}

impl<V: Clone + PartialEq + fmt::Debug + 'static> Empty for BTreeMap<String, V> {
    const EMPTY: &'static Self = &BTreeMap::new();
}

impl<T: Clone + PartialEq + fmt::Debug + 'static> Empty for Vec<T> {
    const EMPTY: &'static Self = &Vec::new();
}

/// A collection that objects made from one template share until one of them changes it.
#[derive(Clone)]
pub struct Shared<T>(Option<Arc<T>>);

impl<T: Empty> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Empty> Shared<T> {
    /// Holds on to an equal one of late instead, if it is alone with its own.
    pub fn share(&mut self, recent: &Recent<T>) {
        if let Some(own) = self.0.take_if(|own| Arc::strong_count(own) == 1) {
            self.0 = Some(recent.share(Arc::unwrap_or_clone(own)));
        }
    }

    /// What it holds.
    pub fn into_inner(self) -> T {
        self.0.map(Arc::unwrap_or_clone).unwrap_or_default()
    }
}

impl<T: Empty> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::EMPTY)
    }
}

impl<T: Empty> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

impl<T: Empty> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(own), Some(others)) if Arc::ptr_eq(own, others) => true,
            _ => **self == **other,
        }
    }
}

impl<T: Empty + Eq> Eq for Shared<T> {}

impl<T: Empty + Ord> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Empty + Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(own), Some(others)) if Arc::ptr_eq(own, others) => Ordering::Equal,
            _ => (**self).cmp(&**other),
        }
    }
}

impl<T: Empty> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self((value != *T::EMPTY).then(|| Arc::new(value)))
    }
}

impl<A, T: Empty + FromIterator<A>> FromIterator<A> for Shared<T> {
    fn from_iter<I: IntoIterator<Item = A>>(items: I) -> Self {
        Self::from(items.into_iter().collect::<T>())
    }
}

impl<'a, T: Empty> IntoIterator for &'a Shared<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;
    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<T: Empty + Codec> Codec for Shared<T> {
    fn decode(value: Value) -> Result<Self, CodecError> {
        T::decode(value).map(Self::from)
    }
    fn encode(&self) -> Value {
        (**self).encode()
    }
    fn is_absent(&self) -> bool {
        (**self).is_absent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_as_long_as_they_come_close_together() {
        let recent = Recent::default();
        let first = recent.share(7);
        assert!(Arc::ptr_eq(&first, &recent.share(7)));
        for other in 100..100 + KEPT {
            recent.share(other);
        }
        let late = recent.share(7);
        assert!(*late == 7 && !Arc::ptr_eq(&first, &late));
    }

    #[test]
    fn what_is_shared_parts_when_one_is_changed() {
        let mut one: Shared<Vec<i32>> = vec![1].into();
        let other = one.clone();
        one.push(2);
        assert_eq!((&**one, &**other), (&[1, 2][..], &[1][..]));
        one.clear();
        assert_eq!(one, Shared::default(), "empty is empty, however it came about");
    }

    #[test]
    fn a_word_is_its_text() {
        let (word, again) = (Word::from("Running"), Word::from("Running".to_string()));
        assert!(word == again && word == "Running" && Word::from("").is_absent());
        assert_eq!(format!("{word:>9}|{word:?}"), "  Running|\"Running\"");
        assert_eq!(std::mem::size_of::<Word>(), std::mem::size_of::<usize>());
    }
}
