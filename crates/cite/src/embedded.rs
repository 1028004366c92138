//! The model that is part of the program.

use std::sync::OnceLock;

use crate::parser::Parser;

/// Made by `bethe-reproduce references --out`; docs/reference/reference-model.md is its model card.
const MODEL: &[u8] = include_bytes!("../model/references.safetensors");

impl Parser {
    /// The parser with the built-in model, which is read at the first call.
    pub fn embedded() -> &'static Self {
        static PARSER: OnceLock<Parser> = OnceLock::new();
        PARSER.get_or_init(|| Self::from_bytes(MODEL).expect("the built-in model is whole"))
    }

    /// The bytes of the built-in model file.
    pub fn embedded_model() -> &'static [u8] {
        MODEL
    }
}
