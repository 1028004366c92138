//! Entries in file formats: BibTeX, CSL-JSON, RIS, TEI, fields as JSON.

pub(crate) mod bibtex;
pub(crate) mod csl;
pub(crate) mod json;
pub(crate) mod key;
pub(crate) mod latex;
pub(crate) mod ris;
pub(crate) mod tei;
