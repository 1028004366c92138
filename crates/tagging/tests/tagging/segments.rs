//! Schemes and segments, against cases worked by hand.

use bethe_tagging::labels::{Scheme, Segment, canonical, leaf_segments, segments};

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Segments as `name[start..end]`, with `@level` where it is not 0.
fn shown(found: &[Segment<'_>]) -> String {
    let one = |segment: &Segment<'_>| {
        let Segment { start, end, level, name } = segment;
        let level = if *level == 0 { String::new() } else { format!("@{level}") };
        format!("{name}[{start}..{end}]{level}")
    };
    found.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn found(scheme: Scheme, labels: &str) -> String {
    shown(&segments(scheme, &words(labels)))
}

fn written(scheme: Scheme, labels: &str) -> String {
    let labels = words(labels);
    let labels: Vec<_> = canonical(scheme, &labels).into_iter().map(|token| token.label).collect();
    labels.join(" ")
}

#[test]
fn schemes_are_recognised_by_their_labels() {
    for (labels, scheme) in [
        ("B-x I-x O", Scheme::Bio),
        ("B-x", Scheme::Bio),
        ("I-x B-x", Scheme::Bio),
        ("I-a:B-b O", Scheme::Bio),
        ("B-x E-x", Scheme::Iobes),
        ("O S-x", Scheme::Iobes),
        ("O B-x S-y", Scheme::Iobes),
        ("B-x L-x", Scheme::Bilou),
        ("O U-x", Scheme::Bilou),
        ("O B-x I-x L-x U-y", Scheme::Bilou),
        ("NN U-turn", Scheme::Plain),
        ("I-x O", Scheme::Io),
        ("I-x I-y", Scheme::Io),
        ("I-a:I-b I-a", Scheme::Io),
        ("name O", Scheme::Io),
        ("O", Scheme::Io),
        ("NN VB : ,", Scheme::Plain),
        ("NN E-mail", Scheme::Plain),
        ("author author title title title year", Scheme::Io),
        ("author author title author title", Scheme::Plain),
        ("author author title title year title", Scheme::Io),
        ("B- I- x", Scheme::Plain),
        ("", Scheme::Plain),
    ] {
        assert_eq!(Scheme::recognise([words(labels)]), scheme, "{labels}");
    }
}

#[test]
fn schemes_are_read_by_name() {
    for scheme in Scheme::ALL {
        assert_eq!(scheme.name().parse(), Ok(scheme));
    }
    let error = "bmes".parse::<Scheme>().unwrap_err().to_string();
    assert_eq!(error, "found the scheme \"bmes\", expected bio, io, iobes, bilou or plain");
}

#[test]
fn bio_segments_are_those_of_conlleval() {
    for (labels, expected) in [
        ("B-x B-x I-x", "x[0..1] x[1..3]"),
        ("O I-x I-x O", "x[1..3]"),
        ("B-x I-y I-y", "x[0..1] y[1..3]"),
        ("I-x O I-x", "x[0..1] x[2..3]"),
        ("B-x I-x", "x[0..2]"),
        ("B-x E-x I-x", "x[0..2] x[2..3]"),
        ("x x I-x", "x[0..1] x[1..2] x[2..3]"),
        ("O O", ""),
        ("", ""),
    ] {
        assert_eq!(found(Scheme::Bio, labels), expected, "{labels}");
    }
}

#[test]
fn iobes_segments_need_not_be_complete() {
    for (labels, expected, repaired) in [
        ("B-x I-x E-x S-y", "x[0..3] y[3..4]", "B-x I-x E-x S-y"),
        ("B-x O E-x", "x[0..1] x[2..3]", "S-x O S-x"),
        ("B-x I-x", "x[0..2]", "B-x E-x"),
        ("S-x I-x E-x", "x[0..1] x[1..3]", "S-x B-x E-x"),
        ("E-x E-x", "x[0..1] x[1..2]", "S-x S-x"),
        ("B-x E-y", "x[0..1] y[1..2]", "S-x S-y"),
        ("I-x S-x I-x", "x[0..1] x[1..2] x[2..3]", "S-x S-x S-x"),
    ] {
        assert_eq!(found(Scheme::Iobes, labels), expected, "{labels}");
        assert_eq!(written(Scheme::Iobes, labels), repaired, "{labels}");
    }
}

#[test]
fn bilou_and_iobes_read_each_other_and_write_their_own_letters() {
    for (iobes, bilou) in [
        ("B-x I-x E-x S-y O", "B-x I-x L-x U-y O"),
        ("B-a:S-x I-a:B-y E-a:E-y", "B-a:U-x I-a:B-y L-a:L-y"),
        ("S-a:O x", "U-a:O x"),
    ] {
        for labels in [iobes, bilou] {
            assert_eq!(written(Scheme::Iobes, labels), iobes);
            assert_eq!(written(Scheme::Bilou, labels), bilou);
            assert_eq!(found(Scheme::Bilou, labels), found(Scheme::Iobes, iobes));
        }
    }
    assert_eq!(written(Scheme::Bio, "B-x L-x U-x O"), "B-x I-x B-x O");
}

#[test]
fn io_segments_are_longest_runs() {
    assert_eq!(found(Scheme::Io, "x x y O y x"), "x[0..2] y[2..3] y[4..5] x[5..6]");
    assert_eq!(found(Scheme::Io, "I-x I-x O I-y"), "x[0..2] y[3..4]");
    assert_eq!(written(Scheme::Io, "x x y O I-y"), "x x y O I-y");
}

#[test]
fn plain_segments_are_tokens() {
    assert_eq!(found(Scheme::Plain, "NN NN O B-x:B-y"), "NN[0..1] NN[1..2] O[2..3] B-x:B-y[3..4]");
}

#[test]
fn bio_is_written_with_a_begin_at_every_beginning() {
    assert_eq!(written(Scheme::Bio, "I-x I-x I-y O I-y B-y"), "B-x I-x B-y O B-y B-y");
    assert_eq!(written(Scheme::Bio, "S-x B-x E-x E-x bare"), "B-x B-x I-x B-x bare");
}

#[test]
fn levels_have_segments_of_their_own() {
    let labels = "B-authors:B-person:B-first I-authors:I-person:B-last I-authors \
                  I-authors:B-person:B-last B-title O";
    assert_eq!(
        found(Scheme::Bio, labels),
        "authors[0..4] person[0..2]@1 first[0..1]@2 last[1..2]@2 person[3..4]@1 last[3..4]@2 \
         title[4..5]"
    );
    let leaves = shown(&leaf_segments(Scheme::Bio, &words(labels)));
    assert_eq!(leaves, "first[0..1] last[1..2] authors[2..3] last[3..4] title[4..5]");
    assert_eq!(written(Scheme::Bio, labels), words(labels).join(" "));
}

#[test]
fn nothing_goes_on_under_a_beginning() {
    let labels = "B-a:B-x B-a:I-x I-c:I-x I-c I-c:I-x";
    assert_eq!(
        found(Scheme::Bio, labels),
        "a[0..1] x[0..1]@1 a[1..2] x[1..2]@1 c[2..5] x[2..3]@1 x[4..5]@1"
    );
    assert_eq!(written(Scheme::Bio, labels), "B-a:B-x B-a:B-x B-c:B-x I-c I-c:B-x");
}

#[test]
fn a_colon_is_a_level_only_between_prefixed_tags() {
    assert_eq!(found(Scheme::Bio, "B-a:b I-a:b B-12:30"), "a:b[0..2] 12:30[2..3]");
    assert_eq!(found(Scheme::Bio, "x:B-y"), "x:B-y[0..1]");
    assert_eq!(found(Scheme::Bio, "B-a::B-y:z"), "a:[0..1] y:z[0..1]@1");
}

#[test]
fn leaves_follow_the_last_tags_alone() {
    let labels = words("B-venue:B-date:B-year I-date:I-year");
    assert_eq!(shown(&leaf_segments(Scheme::Bio, &labels)), "year[0..2]");
    assert_eq!(
        shown(&segments(Scheme::Bio, &labels)),
        "venue[0..1] date[0..1]@1 year[0..1]@2 date[1..2] year[1..2]@1"
    );
}
