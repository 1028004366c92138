use super::TemplateError;

/// Prefixes and suffixes have at most this many characters: a one-digit length.
pub(super) const LONGEST_AFFIX: u8 = 9;
/// Bins of the relative position: a two-digit number.
pub(super) const MOST_BINS: u8 = 99;
/// The names, for a message.
pub(super) const FUNCTIONS: &str = "x, lower, bare, shape, outline, pattern, prefix1–9, suffix1–9, digits, \
     number, letters, numerals, ending, punctuation, dash, quote, bracket, before, since, after, until, \
     inside, turn, stretch, past, start, style, clause, lastclause, nextclause, ahead, behind, edge, position2–99";

/// What a macro makes of a cell, or of a place in the sequence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Function {
    Cell,
    Lower,
    Bare,
    Shape,
    Outline,
    Pattern,
    Prefix(u8),
    Suffix(u8),
    Digits,
    Number,
    Letters,
    Numerals,
    Ending,
    Punctuation,
    Dash,
    Quote,
    Bracket,
    Before,
    Since,
    After,
    Until,
    Inside,
    Turn,
    Stretch,
    Past,
    Start,
    Style,
    Clause,
    LastClause,
    NextClause,
    Ahead,
    Behind,
    Edge,
    Position(u8),
}

impl Function {
    /// The function of a name as written behind the percent sign.
    pub(super) fn named(name: &str, line: usize) -> Result<Self, TemplateError> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[stem.len()..];
        // Plain names take no number: `%x1` is unknown rather than `%x`.
        let function = match (stem, number.is_empty()) {
            ("x", true) => Self::Cell,
            ("lower", true) => Self::Lower,
            ("bare", true) => Self::Bare,
            ("shape", true) => Self::Shape,
            ("outline", true) => Self::Outline,
            ("pattern", true) => Self::Pattern,
            ("digits", true) => Self::Digits,
            ("number", true) => Self::Number,
            ("letters", true) => Self::Letters,
            ("numerals", true) => Self::Numerals,
            ("ending", true) => Self::Ending,
            ("punctuation", true) => Self::Punctuation,
            ("dash", true) => Self::Dash,
            ("quote", true) => Self::Quote,
            ("bracket", true) => Self::Bracket,
            ("before", true) => Self::Before,
            ("since", true) => Self::Since,
            ("after", true) => Self::After,
            ("until", true) => Self::Until,
            ("inside", true) => Self::Inside,
            ("turn", true) => Self::Turn,
            ("stretch", true) => Self::Stretch,
            ("past", true) => Self::Past,
            ("start", true) => Self::Start,
            ("style", true) => Self::Style,
            ("clause", true) => Self::Clause,
            ("lastclause", true) => Self::LastClause,
            ("nextclause", true) => Self::NextClause,
            ("ahead", true) => Self::Ahead,
            ("behind", true) => Self::Behind,
            ("edge", true) => Self::Edge,
            ("prefix", _) => Self::Prefix(affix_length(name, number, line)?),
            ("suffix", _) => Self::Suffix(affix_length(name, number, line)?),
            ("position", _) => Self::Position(bins(name, number, line)?),
            _ => return Err(TemplateError::UnknownFunction { line, found: name.to_owned() }),
        };
        Ok(function)
    }

    /// Whether it looks at the cells around one, too.
    pub(super) fn reads_surroundings(self) -> bool {
        matches!(
            self,
            Self::Before
                | Self::Since
                | Self::After
                | Self::Until
                | Self::Inside
                | Self::Turn
                | Self::Stretch
                | Self::Past
                | Self::Start
                | Self::Style
                | Self::Clause
                | Self::LastClause
                | Self::NextClause
                | Self::Ahead
                | Self::Behind
        )
    }

    /// Whether the surroundings of cells determine it, if they were looked at.
    pub(super) fn is_known_from_surroundings(self, looked: bool) -> bool {
        self.reads_surroundings() || looked && self == Self::Pattern
    }

    /// Whether it looks at a cell, and so takes a column.
    pub(super) fn reads_cell(self) -> bool {
        !matches!(self, Self::Edge | Self::Position(_))
    }
}

fn affix_length(name: &str, number: &str, line: usize) -> Result<u8, TemplateError> {
    match number.parse() {
        Ok(length @ 1..=LONGEST_AFFIX) => Ok(length),
        _ => Err(TemplateError::AffixLength { line, found: name.to_owned() }),
    }
}

fn bins(name: &str, number: &str, line: usize) -> Result<u8, TemplateError> {
    match number.parse() {
        Ok(bins @ 2..=MOST_BINS) => Ok(bins),
        _ => Err(TemplateError::Bins { line, found: name.to_owned() }),
    }
}
