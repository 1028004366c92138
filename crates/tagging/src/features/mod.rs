//! The attributes of a sequence: strings with values, a list per position.
//!
//! A [`Template`] says which cells make an attribute, [`Lexicons`] add matches of listed names, and
//! an [`Extractor`] applies both to sequences. An attribute is a string that names what was seen,
//! such as `Uword-1:the`, with the value 1; lines for numeric cells give other values. A score is
//! then Σ value · weight(attribute, label).
//!
//! ```
//! use bethe_tagging::features::{Extractor, Lexicons, Template, Workspace};
//! let template: Template = "Uword:%x[0,0]\nUpair:%x[-1,0]/%suffix2[0,0]\nB".parse()?;
//! let extractor = Extractor::new(template, Lexicons::default());
//! let mut seen = Vec::new();
//! let sequence = vec![vec!["The"], vec!["pound"]];
//! extractor.visit(&sequence, &mut Workspace::default(), |position, attribute, value| {
//!     seen.push((position, attribute.to_owned(), value));
//! })?;
//! assert_eq!(seen[1], (0, "Upair:_B-1/he".to_owned(), 1.0));
//! assert_eq!(seen[3], (1, "Upair:The/nd".to_owned(), 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod clauses;
mod compile;
mod default;
mod derive;
mod error;
mod extract;
mod extracted;
mod function;
mod lexicon;
mod matches;
mod parse;
mod pattern;
mod surroundings;
mod template;
mod trie;
mod workspace;

pub use cells::Cells;
pub use error::{ExtractError, LexiconError, TemplateError};
pub use extract::Extractor;
pub use extracted::{Attribute, Extracted};
pub use lexicon::Lexicons;
pub use template::Template;
pub use workspace::Workspace;
