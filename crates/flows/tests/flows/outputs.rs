//! Tables and pictures.

use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::output::{
    Kept, Move, Movements, Picture, move_columns, stream, write_counts, write_moves, write_net,
    write_routes, write_transitions,
};
use bethe_flows::uncertainty::StandardErrors;

use super::{Migration, close};

#[test]
fn streamed_moves_are_sorted_above_the_threshold_and_add_up() {
    let migration = Migration::new(4, 5, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let (counts, cells) = (flows.counts(), migration.cells.len());
    let mut kept: Vec<Vec<Move>> = Vec::new();
    let wanted = Kept { threshold: 0.05, strongest: 7, ..Kept::default() };
    let movements = stream(&mut flows, cells, &wanted, &mut |step, moves| {
        assert_eq!(step, kept.len());
        kept.push(moves.to_vec());
        Ok(())
    })
    .unwrap();
    assert_eq!(kept.len(), 4);
    for (moves, strongest) in kept.iter().zip(&movements.strongest) {
        assert!(moves.is_sorted_by_key(|own| (own.from, own.to)));
        assert!(moves.iter().all(|own| own.count > 0.05));
        let mut between: Vec<Move> = moves.iter().copied().filter(|m| m.from != m.to).collect();
        between.sort_by(|a, b| b.count.total_cmp(&a.count));
        assert_eq!(strongest[..], between[..7]);
    }
    let written: f64 = kept.iter().flatten().map(|own| own.count).sum();
    assert!((written + movements.dropped - 4.0 * 60.0).abs() < 1e-6);
    assert_eq!(movements.written, kept.iter().map(Vec::len).sum::<usize>());
    let all: Vec<Move> = kept.iter().flatten().copied().collect();
    for (strongest, rows) in movements.strongest.iter().zip(&movements.rows) {
        let found: Vec<Move> = rows.iter().map(|row| all[row.unwrap()]).collect();
        assert_eq!(strongest[..], found[..]);
    }
    for (at, row) in movements.stays.iter().enumerate() {
        let stay = row.map(|row| (all[row].from, all[row].to));
        assert!(stay.is_none_or(|own| own == (at % cells, at % cells)));
    }
    let written = all.iter().filter(|own| own.from == own.to).count();
    assert_eq!(movements.stays.iter().flatten().count(), written);
    let change: Vec<f64> = (0..4 * cells).map(|n| counts[n + cells] - counts[n]).collect();
    let net: Vec<f64> = movements
        .arrivals
        .iter()
        .zip(&movements.departures)
        .map(|(came, left)| came - left)
        .collect();
    assert!(close(&net, &change, 1e-9));
}

#[test]
fn pictures_keep_the_largest_moves_of_every_cell_and_their_drift() {
    let migration = Migration::new(4, 5, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let cells = &migration.cells;
    let places: Vec<(f64, f64)> = (0..cells.len()).map(|cell| cells.place(cell)).collect();
    let kept = Kept { threshold: 0.0, strongest: 3, per_cell: 2, places: places.clone() };
    let mut all: Vec<Vec<Move>> = Vec::new();
    let movements = stream(&mut flows, cells.len(), &kept, &mut |_, moves| {
        all.push(moves.to_vec());
        Ok(())
    })
    .unwrap();
    for (step, (moves, strongest)) in all.iter().zip(&movements.strongest).enumerate() {
        assert!(strongest.is_sorted_by(|a, b| a.count >= b.count));
        for cell in 0..cells.len() {
            for ends in [|m: &Move| m.from, |m: &Move| m.to] {
                let mut own: Vec<Move> =
                    moves.iter().copied().filter(|m| m.from != m.to && ends(m) == cell).collect();
                own.sort_by(|a, b| b.count.total_cmp(&a.count));
                assert!(own[..2].iter().all(|own| strongest.contains(own)));
            }
            let way = |at: fn(&(f64, f64)) -> f64| -> f64 {
                let own = moves.iter().filter(|m| m.from == cell);
                own.map(|m| m.count * (at(&places[m.to]) - at(&places[m.from]))).sum()
            };
            let drift = movements.drift[step * cells.len() + cell];
            assert!(close(&[drift.0, drift.1], &[way(|p| p.0), way(|p| p.1)], 1e-6));
        }
    }
}

#[test]
fn transitions_of_a_cell_sum_to_one_and_lead_to_the_next_counts() {
    let migration = Migration::new(3, 4, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let (counts, cells) = (flows.counts(), &migration.cells);
    let times: Vec<String> = (0..4).map(|time| time.to_string()).collect();
    let mut bytes = Vec::new();
    write_transitions(&mut bytes, cells, &times, (&mut flows, &counts)).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("time,from,to,probability\n0,Cell1,Cell1,"), "{text}");
    let mut sums = vec![0.0; 3 * cells.len()];
    let mut next = vec![0.0; 3 * cells.len()];
    for line in text.lines().skip(1) {
        let values: Vec<&str> = line.split(',').collect();
        let [step, from, to] = [
            values[0].parse::<usize>().unwrap(),
            cells.find(values[1]).unwrap(),
            cells.find(values[2]).unwrap(),
        ];
        let probability: f64 = values[3].parse().unwrap();
        sums[step * cells.len() + from] += probability;
        next[step * cells.len() + to] += probability * counts[step * cells.len() + from];
    }
    assert!(close(&sums, &vec![1.0; sums.len()], 1e-5));
    assert!(close(&next, &counts[cells.len()..], 1e-3));
}

#[test]
fn a_writer_that_fails_ends_the_stream_with_its_error() {
    let migration = Migration::new(3, 5, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let mut calls = 0;
    let outcome = stream(&mut flows, 9, &Kept { strongest: 1, ..Kept::default() }, &mut |_, _| {
        calls += 1;
        Err(std::io::Error::other("full"))
    });
    assert_eq!(outcome.unwrap_err().to_string(), "full");
    assert_eq!(calls, 1);
}

#[test]
fn tables_have_headers_names_and_six_digits() {
    let cells = Cells::grid(2, 1);
    let times = ["1".to_string(), "2, late".to_string()];
    let text = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        String::from_utf8(bytes).unwrap()
    };
    let counts =
        text(&|out| write_counts(out, &cells, &times, &[1.0, 2.0, 1.0 / 3.0, 0.0]).unwrap());
    assert_eq!(counts, "time,Cell1,Cell2\n1,1,2\n\"2, late\",0.333333,0\n");
    let movements = Movements {
        arrivals: vec![0.0, 0.75],
        departures: vec![0.75, 0.0],
        ..Movements::default()
    };
    let net = text(&|out| write_net(out, &cells, &times, &movements).unwrap());
    let rows = "1,Cell1,0,0.75,-0.75\n1,Cell2,0.75,0,0.75\n";
    assert_eq!(net, format!("time,cell,arrivals,departures,net\n{rows}"));
    let routes = [vec![0, 1], vec![1, 1]].into_iter();
    let routes = text(&|out| write_routes(out, &cells, &times, routes.clone()).unwrap());
    assert_eq!(routes, "route,1,\"2, late\"\n1,Cell1,Cell2\n2,Cell2,Cell2\n");
    let moves = [Move { from: 0, to: 1, count: 0.75 }];
    let flows = text(&|out| {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(move_columns(true)).unwrap();
        write_moves(&mut table, &cells, "1", &moves, &[0.125]).unwrap();
        write_moves(&mut table, &cells, "2", &[], &[]).unwrap();
    });
    assert_eq!(flows, "time,from,to,count,standard_error\n1,Cell1,Cell2,0.75,0.125\n");
    let plain = text(&|out| {
        let mut table = csv::Writer::from_writer(out);
        write_moves(&mut table, &cells, "1", &moves, &[]).unwrap();
    });
    assert_eq!(plain, "1,Cell1,Cell2,0.75\n");
    assert_eq!(move_columns(false), ["time", "from", "to", "count"]);
}

/// Observations of nobody, and arrows from each cell to the next.
fn scene(cells: &Cells, times: usize) -> (Observations, Vec<f64>, Movements) {
    let mut observations = Observations::new(cells.len());
    (0..times).for_each(|time| observations.push(time.to_string(), vec![None; cells.len()]));
    let counts = (0..times * cells.len()).map(|n| (n % 97) as f64 / 3.0).collect();
    let step = |at: usize| -> Vec<Move> {
        let arrows = Picture::kept(times - 1, cells, 0.0).strongest.min(cells.len() - 1);
        (0..arrows).map(|n| Move { from: n, to: n + 1, count: 9.0 / (at + n + 1) as f64 }).collect()
    };
    let strongest = (0..times - 1).map(step).collect();
    let way = |n: usize| ((n % 5) as f64, (n % 3) as f64);
    let drift = match cells.len() > 60 {
        true => (0..(times - 1) * cells.len()).map(way).collect(),
        false => Vec::new(),
    };
    (observations, counts, Movements { strongest, drift, ..Movements::default() })
}

/// The JSON in a page.
fn data_of(page: &str) -> serde_json::Value {
    let data = page.split("type=\"application/json\">").nth(1).unwrap();
    serde_json::from_str(data.split("</script>").next().unwrap()).unwrap()
}

/// Names that would end the data, or open what never ends.
const HOSTILE: [&str; 4] = ["a</script>", "<b>", "<!--<script>", "{{script}}\u{2028}"];

#[test]
fn the_page_holds_its_data_and_needs_nothing_else() {
    let named = HOSTILE.iter().enumerate().map(|(n, name)| (name.to_string(), (n as f64, 0.0)));
    let cells = Cells::new(bethe_flows::data::Geometry::Plane, named).unwrap();
    let (observations, counts, movements) = scene(&cells, 3);
    let title = ("R & D {{data}}", "note");
    let picture = Picture::new(title, &cells, &observations, &counts, &movements);
    let page = picture.page();
    assert!(page.contains("<title>R &amp; D {{data}}</title>"));
    for outside in ["http:", "https:", "src=", "href=", "@import", "fetch(", "import("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for tag in ["<style", "</style>", "<!--"] {
        assert!(page.matches(tag).count() <= 1, "{tag}");
    }
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let data = data_of(&page);
    assert_eq!(data["names"], serde_json::json!(HOSTILE));
    assert_eq!(data["counts"][1][0].as_f64(), Some(1.333));
    assert_eq!(data["moves"][0], serde_json::json!([0, 1, 9, 1, 2, 4.5, 2, 3, 3]));
    let nothing = serde_json::Value::Null;
    for absent in ["errors", "moveErrors", "degrees"] {
        assert_eq!(data[absent], nothing, "{absent}");
    }
    let frame = picture.frame(0);
    assert!(frame.starts_with("<svg") && frame.trim_end().ends_with("</svg>"));
    assert!(frame.contains("R &amp; D") && frame.contains("arrows to 1"));
    for name in ["a&lt;/script&gt;", "&lt;b&gt;"] {
        assert!(frame.contains(name), "{name}: {frame}");
    }
    assert_eq!(frame.matches("<circle").count(), 2 * 4 + 3, "cells and legend");
    assert_eq!(picture.frame(2).matches("<path d=\"M").count(), 3, "the legend's arrows only");
}

#[test]
fn frames_of_many_cells_are_tiles_and_those_of_the_globe_have_degrees() {
    let cells = Cells::grid(8, 8);
    let (observations, counts, movements) = scene(&cells, 2);
    let picture = Picture::new(("t", ""), &cells, &observations, &counts, &movements);
    let frame = picture.frame(0);
    assert_eq!(frame.matches("<rect").count(), 64 + 2, "cells, ground and legend");
    assert!(!frame.contains('°'));
    let named = (0..5).map(|n| (n.to_string(), (f64::from(n) * 8.0 + 165.0, 10.0)));
    let cells = Cells::new(bethe_flows::data::Geometry::Globe, named).unwrap();
    let (observations, counts, movements) = scene(&cells, 2);
    let picture = Picture::new(("t", ""), &cells, &observations, &counts, &movements);
    assert!(picture.frame(0).contains("°E</text>"), "{}", picture.frame(0));
}

#[test]
fn the_page_has_standard_errors_where_they_are_known() {
    let cells = Cells::grid(2, 1);
    let (observations, counts, mut movements) = scene(&cells, 3);
    movements.rows = vec![vec![Some(1)], vec![None]];
    movements.stays = vec![Some(0), None, None, Some(1)];
    let errors = StandardErrors { counts: vec![0.5; 6], flows: vec![0.0, 0.25] };
    let picture = Picture::new(("t", ""), &cells, &observations, &counts, &movements);
    let data = data_of(&picture.with_errors(Some(&errors)).page());
    assert_eq!(data["errors"][2], serde_json::json!([0.5, 0.5]));
    assert_eq!(data["moveErrors"], serde_json::json!([[0.25], [null]]));
    assert_eq!(data["stayErrors"], serde_json::json!([[0, null], [null, 0.25]]));
}

#[test]
fn degrees_of_the_map_are_where_the_cells_are() {
    let named = [("w", (170.0, 10.0)), ("e", (-170.0, -20.0)), ("m", (178.5, 5.0))];
    let named = named.map(|(name, place)| (name.to_string(), place));
    let cells = Cells::new(bethe_flows::data::Geometry::Globe, named.clone()).unwrap();
    let (observations, counts, movements) = scene(&cells, 2);
    let data = data_of(&Picture::new(("t", ""), &cells, &observations, &counts, &movements).page());
    let number = |name: &str| data["degrees"][name].as_f64().unwrap();
    for (cell, (_, (lon, lat))) in named.into_iter().enumerate() {
        let place = |at: usize| data["places"][2 * cell + at].as_f64().unwrap();
        let x = (lon - number("west")).rem_euclid(360.0) * number("across");
        let y = (number("north") - lat) * number("down");
        assert!((x - place(0)).abs() < 0.1 && (y - place(1)).abs() < 0.1, "{x} {y} {cell}");
    }
}

#[test]
fn pictures_of_many_cells_are_bounded() {
    let cells = Cells::grid(100, 100);
    let (observations, counts, movements) = scene(&cells, 53);
    let picture = Picture::new(("large", ""), &cells, &observations, &counts, &movements);
    let page = picture.page();
    assert!(page.len() < 8 << 20, "{}", page.len());
    let drift = &data_of(&page)["drift"];
    assert_eq!(drift.as_array().unwrap().len(), 52);
    assert!(drift[0].as_array().unwrap().len() <= 5 * 400);
    assert!(picture.frame(0).len() < 2 << 20);
    // Far more steps and cells keep fewer moves of each.
    let kept = |steps: usize| Picture::kept(steps, &cells, 0.0);
    assert!(kept(1000).strongest * 1000 <= 60_000 && kept(19).strongest == 400);
    assert_eq!((kept(19).per_cell, kept(1).per_cell), (0, 6));
    assert_eq!(Picture::kept(19, &Cells::grid(3, 3), 0.0).per_cell, 12);
}
