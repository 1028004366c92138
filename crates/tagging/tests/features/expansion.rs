use crate::{at, rows, template, visited, words};
use bethe_tagging::features::{Extractor, Lexicons, Template, Workspace};

#[test]
fn a_macro_becomes_the_cell_of_its_row_and_column() {
    let sequence = rows("He PRP\nreckons VBZ\nthe DT");
    assert_eq!(
        at("U01:%x[-1,0]\nU02:%x[0,1]\nU03:%x[1,1]", &sequence, 1),
        ["U01:He", "U02:VBZ", "U03:DT"]
    );
}

#[test]
fn conjunctions_keep_the_text_between_macros() {
    let sequence = rows("He PRP\nreckons VBZ");
    assert_eq!(
        at("U05:%x[-1,0]/%x[0,0]\nUx <%x[0,1]> end", &sequence, 1),
        ["U05:He/reckons", "Ux <VBZ> end"]
    );
}

#[test]
fn rows_outside_the_sequence_become_marks_that_tell_the_distance() {
    let text = "U1:%x[-2,0]\nU2:%x[-1,0]\nU3:%x[1,0]\nU4:%x[2,0]\nU5:%x[100,0]\nU6:%x[-100,0]";
    assert_eq!(
        at(text, &words("alone"), 0),
        ["U1:_B-2", "U2:_B-1", "U3:_B+1", "U4:_B+2", "U5:_B+100", "U6:_B-100"]
    );
    assert_eq!(at("U1:%x[-2,0]\nU4:%x[2,0]", &words("a b"), 1), ["U1:_B-1", "U4:_B+2"]);
}

#[test]
fn functions_read_boundary_marks_as_cells_do() {
    assert_eq!(
        at("U1:%shape[-1,0]\nU2:%suffix9[1,0]\nU3:%edge[-1]\nU4:%dash[1,0]", &words("a"), 0),
        ["U1:_B-1", "U2:_B+1", "U3:_B-1", "U4:_B+1"]
    );
}

#[test]
fn two_percent_signs_are_one_and_other_text_is_literal() {
    assert_eq!(at("U%%1:50%%%x[0,0]%%", &words("off"), 0), ["U%1:50%off%"]);
    assert_eq!(at("Uα[0,0]:%x[0,0]", &words("β"), 0), ["Uα[0,0]:β"]);
}

#[test]
fn a_line_without_macro_is_the_same_everywhere() {
    let extractor = Extractor::new(template("U99\nB"), Lexicons::default());
    let seen = visited(&extractor, &words("a b"));
    assert_eq!(seen, [(0, "U99".to_owned(), 1.0), (1, "U99".to_owned(), 1.0)]);
}

#[test]
fn comments_blank_lines_and_margins_are_skipped() {
    let text = "# a comment\r\n\r\n  U01:%x[ -1 , 0 ]  \r\n\n#U02:%x[0,0]\n";
    assert_eq!(at(text, &words("a b"), 1), ["U01:a"]);
}

#[test]
fn a_line_with_an_absent_part_gives_nothing() {
    assert_eq!(at("U1:%x[0,0]/%prefix3[0,0]", &words("an ant"), 0), [""; 0]);
    assert_eq!(at("U1:%x[0,0]/%prefix3[0,0]", &words("an ant"), 1), ["U1:ant/ant"]);
}

#[test]
fn transitions_are_there_when_a_plain_bigram_line_is() {
    assert!(template("U1:%x[0,0]\nB").transitions());
    assert!(template("B01").transitions());
    assert!(!template("U1:%x[0,0]\n#B").transitions());
}

#[test]
fn the_highest_column_is_that_of_any_macro_or_number() {
    assert_eq!(template("U1:%x[0,2]/%x[0,1]\nU2:%edge[0]").highest_column(), Some(2));
    assert_eq!(template("U1:%x[0,2]\nR1:%x[0,7]").highest_column(), Some(7));
    assert_eq!(template("U1:%edge[0]\nB").highest_column(), None);
}

#[test]
fn a_template_keeps_its_text() {
    let text = "# mine\n\nU01:%x[-1,0]/%lower[0,0]  \nR1:%x[0,1]\nU%%:%position12[0]\nB\n";
    assert_eq!(template(text).to_string(), text);
    for columns in 1..4 {
        let default = Template::default_for(columns);
        assert_eq!(template(&default.to_string()), default);
    }
}

#[test]
fn an_empty_sequence_has_no_attributes() {
    let extractor = Extractor::new(Template::default_for(1), Lexicons::default());
    assert!(visited(&extractor, &Vec::<Vec<&str>>::new()).is_empty());
}

#[test]
fn a_workspace_serves_one_extractor_after_another() {
    let mut workspace = Workspace::default();
    for text in ["U1:%x[0,0]/%lower[0,1]/%edge[0]", "U1:%shape[0,0]", "R1:%x[0,2]"] {
        let extractor = Extractor::new(template(text), Lexicons::default());
        for sequence in [rows("A b 1\nC d 2\nE f 3"), rows("G h 4")] {
            let mut seen = Vec::new();
            let visit = |position, name: &str, value| seen.push((position, name.into(), value));
            extractor.visit(&sequence, &mut workspace, visit).unwrap();
            assert_eq!(seen, visited(&extractor, &sequence));
        }
    }
}
