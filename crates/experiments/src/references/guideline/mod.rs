//! One way to label references, whatever set they are from.
//!
//! The sets disagree about where marks, quotation marks and words such as `In` belong, and what is a
//! note. The guideline (docs/reference/reference-labels.md) settles it; these passes apply it.

mod fields;
mod marks;
mod works;

use super::data::{Piece, Reference};

/// The reference as the guideline labels it.
pub fn harmonised(reference: &Reference) -> Reference {
    let mut pieces = reference.pieces.clone();
    marks::move_marks(&mut pieces);
    merge(&mut pieces);
    fields::rename(&mut pieces);
    merge(&mut pieces);
    works::settle(&mut pieces);
    fields::move_words(&mut pieces);
    pieces.retain(|piece| !piece.tokens.is_empty());
    merge(&mut pieces);
    Reference { pieces, ..reference.clone() }
}

/// Joins neighbours of one field.
fn merge(pieces: &mut Vec<Piece>) {
    let mut merged: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces.drain(..) {
        match merged.last_mut().filter(|last| last.field == piece.field) {
            Some(last) => last.tokens.extend(piece.tokens),
            None => merged.push(piece),
        }
    }
    *pieces = merged;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::references::data::Source;

    /// `field{tokens} field{tokens}`
    fn reference(text: &str) -> Reference {
        let pieces = text.split("} ").map(|piece| {
            let (field, tokens) = piece.trim_end_matches('}').split_once('{').unwrap();
            Piece::new(field, tokens)
        });
        Reference { source: Source::Grobid, pieces: pieces.collect() }
    }

    fn shown(reference: &Reference) -> String {
        let piece = |piece: &Piece| format!("{}{{{}}}", piece.field, piece.tokens.join(" "));
        reference.pieces.iter().map(piece).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn conventions_of_both_sets_become_one() {
        let cases = [
            (
                "author{A} title{\" On x .} journal{\" , Nature} volume{25} volume{( 4 ) :} pages{3}",
                "author{A} title{\" On x . \" ,} journal{Nature} volume{25 ( 4 ) :} pages{3}",
            ),
            (
                "author{A , '} title{On x , '} journal{Nature}",
                "author{A ,} title{' On x , '} journal{Nature}",
            ),
            (
                "editor{In : A , B ,} container-title{editors . A book .} note{8th ed .} date{1999}",
                "editor{In : A , B , editors .} container-title{A book .} edition{8th ed .} date{1999}",
            ),
            (
                "editor{A} note{( eds . ) ,} title{A book ,} location{Paris}",
                "editor{A ( eds . ) ,} title{A book ,} location{Paris}",
            ),
            (
                "publisher{CMS collaboration ,} title{On jets} note{Ph . D . thesis ,} date{1990}",
                "author{CMS collaboration ,} title{On jets} genre{Ph . D . thesis ,} date{1990}",
            ),
            (
                "title{Poppler .} url{See http : / / a . b .} date{Accessed : 2015 .}",
                "title{Poppler .} note{See} url{http : / / a . b .} note{Accessed : 2015 .}",
            ),
            (
                "journal{J} date{1997 ;} volume{58} note{( suppl .} volume{16 ) :} pages{3}",
                "journal{J} date{1997 ;} volume{58 ( suppl . 16 ) :} pages{3}",
            ),
            ("author{A} note{et al . ,} title{On x}", "author{A et al . ,} title{On x}"),
            (
                "title{[ 14 ] , Norm of x} date{2017}",
                "citation-number{[ 14 ] ,} title{Norm of x} date{2017}",
            ),
            ("author{A} date{( 2006 ) ,} title{B}", "author{A} date{( 2006 ) ,} title{B}"),
            (
                "author{A} date{2001} journal{ApJ ,} pages{552 , L23 .}",
                "author{A} date{2001} journal{ApJ ,} volume{552 ,} pages{L23 .}",
            ),
            (
                "author{A} journal{J} volume{33 , 84} date{1970}",
                "author{A} journal{J} volume{33 ,} pages{84} date{1970}",
            ),
            (
                "author{A} journal{J} volume{33 , 8 :} pages{84}",
                "author{A} journal{J} volume{33 , 8 :} pages{84}",
            ),
            (
                "author{A} title{On x .} editor{In : B} title{( eds . ) Proc .} date{1970}",
                "author{A} title{On x .} editor{In : B ( eds . )} container-title{Proc .} date{1970}",
            ),
            (
                "author{A} title{On x .} collection-title{SPIE ,} volume{14 ,} pages{3}",
                "author{A} title{On x .} journal{SPIE ,} volume{14 ,} pages{3}",
            ),
            (
                "author{A} title{On x .} container-title{In B} volume{1} journal{of LNCS .}",
                "author{A} title{On x .} container-title{In B} volume{1} collection-title{of LNCS .}",
            ),
            (
                "author{A} title{B} journal{J . Phys .} location{( Paris )} volume{3 ,} pages{4}",
                "author{A} title{B} journal{J . Phys . ( Paris )} volume{3 ,} pages{4}",
            ),
            (
                "author{A} title{B} journal{J . Struct . Eng . ,} publisher{ASCE ,} volume{3 ,} pages{4}",
                "author{A} title{B} journal{J . Struct . Eng . , ASCE ,} volume{3 ,} pages{4}",
            ),
            (
                "publisher{X collaboration ,} author{A B et al . ,} title{C}",
                "author{X collaboration , A B et al . ,} title{C}",
            ),
            ("author{A B} note{( ed . ) ,} title{C}", "editor{A B ( ed . ) ,} title{C}"),
            (
                "citation-number{\"} title{On x} author{\" , A B} journal{C}",
                "title{\" On x \" ,} author{A B} journal{C}",
            ),
        ];
        for (labelled, expected) in cases {
            assert_eq!(shown(&harmonised(&reference(labelled))), expected);
        }
    }
}
