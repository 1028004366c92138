use std::path::Path;

use crate::{rows, template};
use bethe_tagging::features::{
    ExtractError, Extractor, Lexicons, Template, TemplateError, Workspace,
};

#[track_caller]
fn refused(text: &str, message: &str) {
    let mistake = text.parse::<Template>().expect_err("a mistake");
    assert_eq!(mistake.to_string(), message);
}

#[test]
fn lines_of_unknown_kind_are_refused() {
    refused(
        "U1:%x[0,0]\n\nw[0]=%x[0,0]",
        "line 3: found \"w[0]=%x[0,0]\", expected a line that begins with U, R, L, B or #",
    );
}

#[test]
fn bigram_lines_with_cells_are_refused() {
    refused(
        "B01:%x[0,0]",
        "line 1: found \"B01:%x[0,0]\", expected a plain B, since transitions depend on labels \
         only, not on cells",
    );
}

#[test]
fn unknown_functions_are_refused_with_the_known_ones() {
    refused(
        "U1:%upper[0,0]",
        "line 1: found the function %upper, expected one of x, lower, bare, shape, outline, \
         pattern, prefix1–9, suffix1–9, digits, number, letters, numerals, ending, punctuation, \
         dash, quote, bracket, before, since, after, until, inside, turn, stretch, past, start, \
         style, clause, lastclause, nextclause, ahead, behind, edge, position2–99; a percent sign is %%",
    );
    assert!(matches!(
        "U1:%x3[0,0]".parse::<Template>(),
        Err(TemplateError::UnknownFunction { .. })
    ));
}

#[test]
fn percent_signs_that_begin_nothing_are_refused() {
    refused(
        "U1:%x[0,0]%",
        "line 1: found \"%\", expected a function such as %x[0,0], or %% for a percent sign",
    );
}

#[test]
fn lengths_and_bins_out_of_range_are_refused() {
    let length = "expected a length from 1 to 9 as in %prefix3";
    refused("U1:%prefix[0,0]", &format!("line 1: found %prefix, {length}"));
    refused("U1:%suffix0[0,0]", &format!("line 1: found %suffix0, {length}"));
    refused("U1:%suffix10[0,0]", &format!("line 1: found %suffix10, {length}"));
    refused(
        "U1:%position1[0]",
        "line 1: found %position1, expected from 2 to 99 bins as in %position12",
    );
}

#[test]
fn wrong_brackets_are_refused() {
    let cell = "expected a row and a column in brackets, as in %x[0,0]";
    refused("U1:%x(0,0)", &format!("line 1: found \"%x(0,0)\", {cell}"));
    refused("U1:%x[0,0", &format!("line 1: found \"%x[0,0\", {cell}"));
    refused("U1:%x[0]", &format!("line 1: found \"%x[0]\", {cell}"));
    refused(
        "U1:%edge[0,0]",
        "line 1: found \"%edge[0,0]\", expected a row in brackets, as in %edge[0]",
    );
}

#[test]
fn rows_and_columns_out_of_range_are_refused() {
    let row = "expected a whole number from -100 to 100";
    refused("U1:%x[101,0]", &format!("line 1: found the row \"101\", {row}"));
    refused("U1:%x[-101,0]", &format!("line 1: found the row \"-101\", {row}"));
    refused("U1:%x[one,0]", &format!("line 1: found the row \"one\", {row}"));
    let column = "expected a whole number from 0 to 999";
    refused("U1:%x[0,-1]", &format!("line 1: found the column \"-1\", {column}"));
    refused("U1:%x[0,1000]", &format!("line 1: found the column \"1000\", {column}"));
    refused("U1:%x[0,0,0]", &format!("line 1: found the column \"0,0\", {column}"));
}

#[test]
fn numeric_lines_are_a_name_and_a_cell() {
    for found in ["R1", "R1:", "R1:%lower[0,0]", "R1:%x[0,0]/%x[1,0]", "R1%x[0,0]:%x[0,0]"] {
        let expected = "expected a name and one cell, as in R01:%x[0,2]";
        refused(found, &format!("line 1: found {found:?}, {expected}"));
    }
}

#[test]
fn lines_of_lists_are_a_name_and_rows() {
    for line in
        ["L1", "L1:%x[0,0]", "L1:%lists[0", "L1:%lists[2,1]", "L1:%lists[0]=", "L1:%lists[0]x"]
    {
        let expected = "expected a name and rows, as in L01:%lists[-1], \
                        L02:%lists[1,10] or L03:%lists[1,10]=name";
        refused(line, &format!("line 1: found {line:?}, {expected}"));
    }
    refused(
        "L1:%lists[0,101]",
        "line 1: found the row \"101\", expected a whole number from -100 to 100",
    );
}

#[test]
fn lines_whose_attributes_could_coincide_are_refused() {
    let message = |found: &str| {
        format!(
            "line 3: starts with {found:?} like line 1, expected a different name so that their \
             attributes differ"
        )
    };
    refused("U1:%x[0,0]\n\nU1:%x[1,0]", &message("U1:"));
    refused("U1:%x[0,0]\n\nU1:a/%x[1,0]", &message("U1:"));
    refused("U1:a%x[0,0]\n\nU1:%x[1,0]", &message("U1:"));
    refused("U1%x[0,0]\n\nU1", &message("U1"));
    refused("U1%x[0,0]\n\nU12", &message("U1"));
    refused("R1:%x[0,0]\n\nR1:%x[0,1]", &message("R1"));
    refused("B\n\nB", &message("B"));
    // A line without macros is whole: what only begins like it differs.
    template("U1\nU12\nU1:%x[0,0]\nR1:%x[0,0]\nR12:%x[0,0]");
}

#[test]
fn templates_without_lines_are_refused() {
    refused("", "found no line that starts with U, R or B, expected at least one");
    refused("# nothing", "found no line that starts with U, R or B, expected at least one");
}

#[test]
fn mistakes_in_files_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.template");
    let missing = Template::read(&path).unwrap_err().to_string();
    assert!(missing.starts_with(&format!("{}: ", path.display())), "{missing}");

    std::fs::write(&path, "U1:%x[0,0]\nX").unwrap();
    let wrong = Template::read(&path).unwrap_err().to_string();
    assert!(wrong.starts_with(&format!("{}: line 2: found \"X\"", path.display())), "{wrong}");

    std::fs::write(&path, "U1:%x[0,0]").unwrap();
    assert_eq!(Template::read(Path::new(&path)).unwrap(), template("U1:%x[0,0]"));
}

#[test]
fn columns_the_data_do_not_have_are_reported_before_the_first_attribute() {
    let extractor = Extractor::new(template("U1:%x[0,0]\nU2:%x[1,2]"), Lexicons::default());
    let mut visits = 0;
    let sequence = rows("a b c\na b");
    let mistake = extractor.visit(&sequence, &mut Workspace::default(), |_, _, _| visits += 1);
    let reader = "line 2 of the template".to_owned();
    assert_eq!(mistake, Err(ExtractError::MissingColumn { position: 1, column: 2, reader }));
    assert_eq!(visits, 0);
    assert_eq!(
        mistake.unwrap_err().to_string(),
        "position 1 has no column 2, but line 2 of the template reads it"
    );
}
