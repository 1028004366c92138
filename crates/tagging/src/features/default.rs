//! The default template, as text.

use std::fmt::Write;

/// Lines for the word and its neighbours; good for chunks, names and references.
const WORD: &str = "\
# column 0: the word
Ubias
Uword-2:%x[-2,0]
Uword-1:%x[-1,0]
Uword:%x[0,0]
Uword+1:%x[1,0]
Uword+2:%x[2,0]
Uword-1,0:%x[-1,0]/%x[0,0]
Uword0,+1:%x[0,0]/%x[1,0]
Ulower-2:%lower[-2,0]
Ulower-1:%lower[-1,0]
Ulower:%lower[0,0]
Ulower+1:%lower[1,0]
Ulower+2:%lower[2,0]
Ushape:%shape[0,0]
Uoutline-2:%outline[-2,0]
Uoutline-1:%outline[-1,0]
Uoutline:%outline[0,0]
Uoutline+1:%outline[1,0]
Uoutline+2:%outline[2,0]
Uoutline-1,0:%outline[-1,0]/%outline[0,0]
Uoutline0,+1:%outline[0,0]/%outline[1,0]
Uoutline-1,0,+1:%outline[-1,0]/%outline[0,0]/%outline[1,0]
Uprefix1:%prefix1[0,0]
Uprefix2:%prefix2[0,0]
Uprefix3:%prefix3[0,0]
Uprefix4:%prefix4[0,0]
Usuffix1:%suffix1[0,0]
Usuffix2:%suffix2[0,0]
Usuffix3:%suffix3[0,0]
Usuffix4:%suffix4[0,0]
Udigits:%digits[0,0]
Unumber-1:%number[-1,0]
Unumber:%number[0,0]
Unumber+1:%number[1,0]
Upunctuation:%punctuation[0,0]
Uending-1:%ending[-1,0]
Uending:%ending[0,0]
Udash:%dash[0,0]
Uquote:%quote[0,0]
Ubracket:%bracket[0,0]
Uedge:%edge[0]
Uposition:%position12[0]
";

/// The text for a word in column 0 and further observations in the columns after it.
pub(super) fn text(columns: usize) -> String {
    let mut text = WORD.to_owned();
    for column in 1..columns {
        observation(column, &mut text);
    }
    text.push_str("# transitions between labels\nB\n");
    text
}

/// Lines for another column: its neighbours, alone and in runs of two and three, and together with
/// the word.
fn observation(column: usize, text: &mut String) {
    let runs: [&[i32]; 12] = [
        &[-2],
        &[-1],
        &[0],
        &[1],
        &[2],
        &[-2, -1],
        &[-1, 0],
        &[0, 1],
        &[1, 2],
        &[-2, -1, 0],
        &[-1, 0, 1],
        &[0, 1, 2],
    ];
    let mut add = |line: std::fmt::Arguments| writeln!(text, "{line}").expect("text takes text");
    add(format_args!("# column {column}: an observation"));
    for rows in runs {
        let names: Vec<String> = rows.iter().map(|row| signed(*row)).collect();
        let cells: Vec<String> = rows.iter().map(|row| format!("%x[{row},{column}]")).collect();
        add(format_args!("U{column}@{}:{}", names.join(","), cells.join("/")));
    }
    add(format_args!("Uword,{column}:%x[0,0]/%x[0,{column}]"));
}

fn signed(row: i32) -> String {
    if row > 0 { format!("+{row}") } else { row.to_string() }
}
