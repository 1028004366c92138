//! Plain text as the sequences of a tagger.

use anyhow::Result;
use bethe_cite::{Dialect, DialectError, Tokeniser};
use bethe_tagging::Tagger;
use bethe_terminal::bad_input;
use clap::ValueEnum;

/// How lines are split into tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tokens {
    /// As in the model's training data
    Auto,
    /// At spaces only
    Spaces,
    /// Words without the marks around them: "Lett" ".", but "J." and "(2004)"
    Words,
    /// Every mark is a token: "(" "2004" ")"
    Punctuation,
}

impl Tokens {
    /// The tokeniser, unless `auto`.
    fn told(self) -> Option<Tokeniser> {
        match self {
            Self::Auto => None,
            Self::Spaces => Some(Tokeniser::Spaces),
            Self::Words => Some(Tokeniser::Words),
            Self::Punctuation => Some(Tokeniser::Punctuation),
        }
    }

    /// How the model expects text to be split. `name` is what messages call the model.
    pub fn dialect(self, tagger: &Tagger, name: &str) -> Result<Dialect> {
        Dialect::of(tagger, self.told()).map_err(|error| {
            let place = match error {
                DialectError::NoWords => "--tokens",
                _ => name,
            };
            bad_input(format!("{place}: {error}"))
        })
    }

    /// The same; text is split at spaces, with a warning, if the model does not show how it was in
    /// the training data.
    pub fn dialect_or_spaces(
        self,
        tagger: &Tagger,
        name: &str,
    ) -> Result<(Dialect, Option<String>)> {
        match (self, Dialect::of(tagger, self.told())) {
            (Self::Auto, Err(DialectError::NoNames | DialectError::NoWords)) => {
                let warning = format!(
                    "{name}: the model does not show how its training text was split into tokens; \
                     assumed at spaces. Use --tokens to say how"
                );
                Ok((Self::Spaces.dialect(tagger, name)?, Some(warning)))
            }
            _ => Ok((self.dialect(tagger, name)?, None)),
        }
    }
}
