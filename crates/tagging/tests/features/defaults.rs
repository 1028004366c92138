use crate::{at, rows, words};
use bethe_tagging::features::Template;

#[test]
fn the_default_reads_every_column_and_has_transitions() {
    for columns in [1, 2, 5] {
        let template = Template::default_for(columns);
        assert_eq!(template.highest_column(), Some(columns - 1));
        assert!(template.transitions());
    }
}

#[test]
#[should_panic(expected = "found 0 columns, expected 1 to 1000")]
fn the_default_needs_a_column() {
    Template::default_for(0);
}

#[test]
fn the_default_sees_a_year_at_the_end_of_a_reference() {
    let text = Template::default_for(1).to_string();
    let attributes = at(&text, &words("Knuth , D. (1968)."), 3);
    for expected in [
        "Ubias",
        "Uword:(1968).",
        "Uword-1,0:D./(1968).",
        "Uword+1:_B+1",
        "Ulower-1:d.",
        "Ushape:(dddd).",
        "Uoutline:(d).",
        "Uoutline-1,0,+1:X./(d)./_B+1",
        "Uprefix2:(1",
        "Usuffix4:68).",
        "Udigits:(0000).",
        "Unumber:year",
        "Uending-1:.",
        "Uending:.",
        "Ubracket:start",
        "Uedge:last",
        "Uposition:9",
    ] {
        assert!(attributes.iter().any(|found| found == expected), "{expected} in {attributes:#?}");
    }
}

#[test]
fn the_default_sees_runs_of_further_columns() {
    let text = Template::default_for(2).to_string();
    let attributes = at(&text, &rows("He PRP\nreckons VBZ\nthe DT"), 1);
    for expected in ["U1@0:VBZ", "U1@+1,+2:DT/_B+1", "U1@-1,0,+1:PRP/VBZ/DT", "Uword,1:reckons/VBZ"]
    {
        assert!(attributes.iter().any(|found| found == expected), "{expected} in {attributes:#?}");
    }
}
