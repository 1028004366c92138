use crate::{rows, template, visited};
use bethe_tagging::features::{Extractor, Lexicons, Workspace};

fn extractor(text: &str) -> Extractor {
    Extractor::new(template(text), Lexicons::default())
}

#[test]
fn numeric_lines_give_the_cell_as_value() {
    let seen = visited(&extractor("R01:%x[0,1]\nRnext:%x[1,1]"), &rows("a 0.5\nb -3e2\nc 0"));
    let expected = [
        (0, "R01", 0.5),
        (0, "Rnext", -300.0),
        (1, "R01", -300.0),
        (1, "Rnext", 0.0),
        (2, "R01", 0.0),
    ];
    assert_eq!(seen, expected.map(|(position, name, value)| (position, name.to_owned(), value)));
}

#[test]
fn empty_cells_underscores_and_rows_outside_have_no_value() {
    let sequence = vec![vec!["_"], vec![""], vec!["7"]];
    let seen = visited(&extractor("R1:%x[0,0]\nR2:%x[-3,0]\nR3:%x[3,0]"), &sequence);
    assert_eq!(seen, [(2, "R1".to_owned(), 7.0)]);
}

#[test]
fn cells_that_are_no_finite_numbers_are_refused() {
    for found in ["seven", "nan", "inf", "-infinity", "1e999", "1,5"] {
        let sequence = vec![vec!["a", "1"], vec!["b", found]];
        let text = "U1:%x[0,0]\nR1:%x[0,1]";
        let result = extractor(text).visit(&sequence, &mut Workspace::default(), |_, _, _| ());
        assert_eq!(
            result.unwrap_err().to_string(),
            format!(
                "position 1, column 1: found {found:?}, expected a finite number, nothing or _, \
                 since line 2 of the template reads it as a value"
            )
        );
    }
}

#[test]
fn missing_numeric_columns_are_reported() {
    let sequence = rows("a\nb");
    let result = extractor("R1:%x[0,1]").visit(&sequence, &mut Workspace::default(), |_, _, _| ());
    assert_eq!(
        result.unwrap_err().to_string(),
        "position 0 has no column 1, but line 1 of the template reads it"
    );
}
