use std::fmt;

/// A place in a JSON text, kept as a chain of borrowed parts: nothing is allocated until a mistake
/// has to be reported.
#[derive(Clone, Copy)]
pub(super) enum JsonPlace<'a> {
    Root,
    Field(&'a JsonPlace<'a>, &'a str),
    Index(&'a JsonPlace<'a>, usize),
}

impl<'a> JsonPlace<'a> {
    pub fn field(&'a self, name: &'a str) -> JsonPlace<'a> {
        JsonPlace::Field(self, name)
    }

    pub fn index(&'a self, index: usize) -> JsonPlace<'a> {
        JsonPlace::Index(self, index)
    }

    pub fn path(&self) -> JsonPath {
        JsonPath(self.to_string())
    }
}

impl fmt::Display for JsonPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(JsonPlace::Root, name) => f.write_str(name),
            Self::Field(outer, name) => write!(f, "{outer}.{name}"),
            Self::Index(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}

/// A place in a JSON text, such as `energies[0].terms[1].coefficients`; empty for the whole text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(pub String);

/// Ends in `: ` so that a message can follow; nothing at all for the whole text.
impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{}: ", self.0) }
    }
}
