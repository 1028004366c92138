//! Where names fit beside their discs and each other.

use super::{FOOT, HEAD, HEIGHT, LEFT, WIDTH};

/// Longer names are cut.
const LONGEST: usize = 24;
/// Half the height of a line.
const HALF: f64 = 8.0;
/// Pixels of a letter, and of one of a script whose letters are square.
const LETTERS: (f64, f64) = (7.3, 13.0);

/// A name at its place.
#[derive(Debug, PartialEq)]
pub(super) struct Name {
    pub words: String,
    pub at: (f64, f64),
    /// What of it is there: `start`, `middle` or `end`.
    pub anchor: &'static str,
}

/// Left, top, right and bottom.
type Rectangle = [f64; 4];

/// Places names beside discs, in this order; those that do not fit are left out. The corner is where
/// the map begins in the frame.
pub(super) fn name_places(
    names: &[String],
    (places, radii): (&[(f64, f64)], &[f64]),
    order: &[usize],
    corner: (f64, f64),
) -> Vec<Name> {
    let around = |(&(x, y), radius): (&(f64, f64), &f64)| {
        let half = 0.7 * radius;
        [x - half, y - half, x + half, y + half]
    };
    let mut taken: Vec<Rectangle> = places.iter().zip(radii).map(around).collect();
    let room =
        [LEFT - corner.0, HEAD - corner.1, WIDTH - LEFT - corner.0, HEIGHT - FOOT - corner.1];
    let mut placed = Vec::new();
    for &cell in order {
        let words = short(&names[cell]);
        let width = width(&words);
        let fitting = ways(places[cell], radii[cell] + 6.0).into_iter().find_map(|(anchor, at)| {
            let own = rectangle(anchor, at, width);
            let is_free = is_within(own, room) && !taken.iter().any(|other| touch(own, *other));
            is_free.then_some((anchor, at, own))
        });
        if let Some((anchor, at, own)) = fitting {
            taken.push(own);
            placed.push(Name { words, at, anchor });
        }
    }
    placed
}

/// Where a name may stand, the best first.
fn ways((x, y): (f64, f64), off: f64) -> [(&'static str, (f64, f64)); 6] {
    let slant = 0.7 * off;
    [
        ("start", (x + off, y)),
        ("end", (x - off, y)),
        ("middle", (x, y + off + HALF)),
        ("middle", (x, y - off - HALF)),
        ("start", (x + slant, y - slant - 6.0)),
        ("end", (x - slant, y + slant + 6.0)),
    ]
}

fn rectangle(anchor: &str, (x, y): (f64, f64), width: f64) -> Rectangle {
    let left = match anchor {
        "start" => x,
        "end" => x - width,
        _ => x - width / 2.0,
    };
    [left - 2.0, y - HALF, left + width + 2.0, y + HALF]
}

fn is_within(own: Rectangle, room: Rectangle) -> bool {
    own[0] >= room[0] && own[1] >= room[1] && own[2] <= room[2] && own[3] <= room[3]
}

fn touch(a: Rectangle, b: Rectangle) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

fn short(name: &str) -> String {
    match name.chars().count() > LONGEST {
        true => name.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => name.to_string(),
    }
}

fn width(words: &str) -> f64 {
    let of = |c: char| if c >= '\u{1100}' { LETTERS.1 } else { LETTERS.0 };
    words.chars().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::{name_places, rectangle, touch, width};

    #[test]
    fn names_overlap_neither_each_other_nor_discs() {
        let names: Vec<String> = (0..30).map(|n| format!("a place of number {n}")).collect();
        let places: Vec<(f64, f64)> = (0..30)
            .map(|n| (f64::from(n % 6) * 60.0 + 200.0, f64::from(n / 6) * 60.0 + 100.0))
            .collect();
        let radii = vec![15.0; 30];
        let order: Vec<usize> = (0..30).collect();
        let placed = name_places(&names, (&places, &radii), &order, (24.0, 64.0));
        assert!((8..30).contains(&placed.len()), "{}", placed.len());
        let boxes: Vec<[f64; 4]> =
            placed.iter().map(|own| rectangle(own.anchor, own.at, width(&own.words))).collect();
        for (at, own) in boxes.iter().enumerate() {
            assert!(boxes[..at].iter().all(|other| !touch(*own, *other)));
            assert!(
                places.iter().all(|(x, y)| !touch(*own, [x - 10.0, y - 10.0, x + 10.0, y + 10.0]))
            );
        }
    }
}
