//! What is wrong with the settings, and where.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A problem: its place, what is wrong there, and what to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    place: Place,
    what: String,
    weight: Weight,
}

/// What follows from a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// It is told, and what is written there is passed over.
    PassedOver,
    /// Nothing starts.
    Grave,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    Line(PathBuf, usize),
    Variable(String),
    Flag(String),
}

/// All problems of the settings.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Problems(pub(crate) Vec<Problem>);

impl Problem {
    pub(super) fn of_file(path: &Path, what: impl Into<String>) -> Self {
        Self::grave(Place::File(path.to_owned()), what)
    }

    pub(super) fn at_line(path: &Path, line: usize, what: impl Into<String>) -> Self {
        Self::grave(Place::Line(path.to_owned(), line), what)
    }

    /// Its line, if it is in a file.
    pub(super) fn line(&self) -> Option<usize> {
        match self.place {
            Place::Line(_, line) => Some(line),
            Place::File(_) | Place::Variable(_) | Place::Flag(_) => None,
        }
    }

    pub(super) fn of_variable(name: &str, what: impl Into<String>) -> Self {
        Self::grave(Place::Variable(name.to_owned()), what)
    }

    pub(super) fn of_flag(name: &str, what: impl Into<String>) -> Self {
        Self::grave(Place::Flag(name.to_owned()), what)
    }

    pub(super) fn weighing(self, weight: Weight) -> Self {
        Self { weight, ..self }
    }

    pub(crate) fn is_grave(&self) -> bool {
        self.weight == Weight::Grave
    }

    /// Where it is: a file with its line, a variable or a flag.
    pub(crate) fn place(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Line(path, line) => format!("{}:{line}", path.display()),
            Place::Variable(name) | Place::Flag(name) => name.clone(),
        }
    }

    /// What is wrong, and what to write.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }

    /// The variable that it is in, if it is in one.
    pub(crate) fn variable(&self) -> Option<&str> {
        match &self.place {
            Place::Variable(name) => Some(name),
            Place::File(_) | Place::Line(..) | Place::Flag(_) => None,
        }
    }

    /// What to do about it, as a sentence.
    pub(crate) fn advice(&self) -> String {
        match &self.place {
            Place::File(path) => format!("Edit {}.", path.display()),
            Place::Line(path, line) => format!("Edit {}, line {line}.", path.display()),
            Place::Variable(name) => format!("Unset {name}."),
            Place::Flag(name) => format!("Leave {name} out."),
        }
    }

    fn grave(place: Place, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), weight: Weight::Grave }
    }
}

impl Problems {
    /// Problems that are passed over; an error with all of them if one is grave.
    pub(crate) fn unless_refused(problems: Vec<Problem>) -> Result<Vec<Problem>, Self> {
        let is_refused = problems.iter().any(Problem::is_grave);
        if is_refused { Err(Self(problems)) } else { Ok(problems) }
    }

    /// True if none that keeps us from starting is in a flag.
    pub(crate) fn spare_the_flags(&self) -> bool {
        let is_flag = |problem: &Problem| matches!(problem.place, Place::Flag(_));
        !self.0.iter().any(|problem| problem.is_grave() && is_flag(problem))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place(), self.what)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the settings cannot be used:")?;
        self.0.iter().try_for_each(|problem| write!(out, "\n  {problem}"))
    }
}

/// The one of `known` that `name` was probably meant to be.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    let name = name.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(&name, &known.to_lowercase()), known))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
