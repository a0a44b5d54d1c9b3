//! The error of a program's `main`.
//!
//! Depends on nothing. Holds always: what is printed is for people, the causes included.

use std::error::Error as StdError;
use std::fmt;

/// Any error, for the `main` of a program: `?` makes one of every error.
///
/// Printed as text, also by `{:?}`, which is what Rust prints of a `main` that
/// fails: the error, then what it was caused by.
///
/// ```
/// fn main() -> polywire::Result<()> {
///     let port: u16 = "3000".parse()?;
///     assert_eq!(port, 3000);
///     Ok(())
/// }
/// ```
pub struct Error(Box<dyn StdError + Send + Sync>);

impl Error {
    /// The error that it was made of.
    #[must_use]
    pub fn into_inner(self) -> Box<dyn StdError + Send + Sync> {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        f.write_str(&said)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // Some errors say their cause themselves.
            if !said.contains(&text) {
                write!(f, ": {text}")?;
            }
            said = text;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// An `Error` is no `std::error::Error` itself: this would make one of an `Error` otherwise, too.
impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        error.0
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        error.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the room is closed")]
    struct Closed;

    #[derive(Debug, thiserror::Error)]
    enum Outer {
        #[error("cannot say it")]
        Quiet(#[source] Closed),
        #[error("cannot say it, since {0}")]
        Saying(#[source] Closed),
    }

    #[test]
    fn causes_are_said_once() {
        for (error, text) in [
            (Error::from(Closed), "the room is closed"),
            (Outer::Quiet(Closed).into(), "cannot say it: the room is closed"),
            (Outer::Saying(Closed).into(), "cannot say it, since the room is closed"),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(format!("{error:?}"), text);
        }
    }
}
