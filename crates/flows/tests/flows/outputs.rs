//! Tables and pictures.

use bethe_flows::data::{Cells, Observations};
use bethe_flows::energy::Noise;
use bethe_flows::output::{
    Move, Movements, Picture, stream, write_counts, write_moves, write_net, write_routes,
};

use super::{Migration, close};

#[test]
fn streamed_moves_are_sorted_above_the_threshold_and_add_up() {
    let migration = Migration::new(4, 5, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let (counts, cells) = (flows.counts(), migration.cells.len());
    let mut kept: Vec<Vec<Move>> = Vec::new();
    let movements = stream(&mut flows, cells, (0.05, 7), &mut |step, moves| {
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
fn a_writer_that_fails_ends_the_stream_with_its_error() {
    let migration = Migration::new(3, 5, None);
    let mut flows = migration.solve(&Noise::Poisson { rate: vec![1.0] });
    let mut calls = 0;
    let outcome = stream(&mut flows, 9, (0.0, 1), &mut |_, _| {
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
        write_moves(&mut table, &cells, "1", (&moves, &[])).unwrap();
    });
    assert_eq!(flows, "1,Cell1,Cell2,0.75\n");
    let certain = text(&|out| {
        let mut table = csv::Writer::from_writer(out);
        write_moves(&mut table, &cells, "1", (&moves, &[0.25])).unwrap();
    });
    assert_eq!(certain, "1,Cell1,Cell2,0.75,0.25\n");
}

/// Observations of nobody, and arrows from each cell to the next.
fn scene(cells: &Cells, times: usize) -> (Observations, Vec<f64>, Movements) {
    let mut observations = Observations::new(cells.len());
    (0..times).for_each(|time| observations.push(time.to_string(), vec![None; cells.len()]));
    let counts = (0..times * cells.len()).map(|n| (n % 97) as f64 / 3.0).collect();
    let step = |at: usize| -> Vec<Move> {
        let arrows = Picture::arrows(times - 1).min(cells.len() - 1);
        (0..arrows).map(|n| Move { from: n, to: n + 1, count: 9.0 / (at + n + 1) as f64 }).collect()
    };
    let strongest = (0..times - 1).map(step).collect();
    (observations, counts, Movements { strongest, ..Movements::default() })
}

#[test]
fn the_page_holds_its_data_and_needs_nothing_else() {
    let named = [("a</script>", (0.0, 0.0)), ("<b>", (1.0, 0.0))].map(|(n, p)| (n.to_string(), p));
    let cells = Cells::new(bethe_flows::data::Geometry::Plane, named).unwrap();
    let (observations, counts, movements) = scene(&cells, 3);
    let picture = Picture::new(("R & D", "note"), &cells, &observations, &counts, &movements);
    let page = picture.page();
    assert!(page.contains("<title>R &amp; D</title>"));
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let data = page.split("type=\"application/json\">").nth(1).unwrap();
    let data: serde_json::Value =
        serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    assert_eq!(data["names"][0], "a</script>");
    assert_eq!(data["counts"][1][0].as_f64(), Some(0.6667));
    assert_eq!(data["moves"][0], serde_json::json!([0, 1, 9]));
    let frame = picture.frame(0);
    assert!(frame.starts_with("<svg") && frame.trim_end().ends_with("</svg>"));
    assert!(frame.contains("R &amp; D") && frame.contains("arrows to 1"));
    assert_eq!(frame.matches("<rect").count(), 2 + 2, "cells, ground and legend");
    assert_eq!(picture.frame(2).matches("<path d=\"M").count(), 3, "the legend's arrows only");
}

#[test]
fn pictures_of_many_cells_are_bounded() {
    let cells = Cells::grid(100, 100);
    let (observations, counts, movements) = scene(&cells, 53);
    let picture = Picture::new(("large", ""), &cells, &observations, &counts, &movements);
    assert!(picture.page().len() < 8 << 20, "{}", picture.page().len());
    assert!(picture.frame(0).len() < 2 << 20);
    // Far more steps keep fewer arrows of each.
    assert!(Picture::arrows(1000) * 1000 <= 60_000 && Picture::arrows(19) == 400);
}
