//! The service itself: what it says is what the command line says.

use serde_json::{Value, json};

use super::client::Service;
use super::common::{CONVEX, Folder, INFEASIBLE};

const LINES: &str = "[1] Smith, J. Deep graphs. Nature 12, 3-9 (2004).\n\
     [2] Knuth, D. E. The Art of Computer Programming. Addison-Wesley, 1997.\n";

#[test]
fn exports_are_what_the_command_line_writes() {
    let service = Service::start(&[]);
    let folder = Folder::new().with("refs.txt", LINES);
    for format in ["bibtex", "csl-json", "ris", "conll"] {
        let written = folder.succeeds(&["cite", "refs.txt", "--format", format, "--quiet"]);
        let reply = service.post("/api/v1/cite", &json!({ "text": LINES, "format": format }));
        assert_eq!((reply.status, reply.body), (200, written), "{format}");
    }
    let arguments = ["cite", "refs.txt", "--format", "json", "--marginals", "--explain", "--quiet"];
    let written = folder.succeeds(&arguments);
    let answer = service.answer("/api/v1/cite", &json!({ "text": LINES }));
    for (line, own) in written.lines().zip(answer["references"].as_array().unwrap()) {
        let line: Value = serde_json::from_str(line).unwrap();
        for (name, value) in line.as_object().unwrap() {
            assert_eq!(&own[name], value, "{name}");
        }
        assert!(own["bibtex"].as_str().unwrap().starts_with('@'));
        assert_eq!(own["without_rules"], own["labels"], "the built-in model has no rules");
    }
}

#[test]
fn labels_that_are_given_are_kept() {
    let service = Service::start(&[]);
    let text = "Smith, J. Deep graphs. Nature 12, 3-9 (2004).";
    let ask = |force: Value| json!({ "references": [{ "text": text, "force": force }] });
    let title = |answer: &Value| answer["references"][0]["fields"]["title"].clone();
    let plain = service.answer("/api/v1/cite", &ask(json!([])));
    assert_eq!(title(&plain), "Deep graphs");
    let force = json!([{ "first": 4, "end": 8, "label": "title" }]);
    let forced = service.answer("/api/v1/cite", &ask(force));
    assert_eq!(title(&forced), "Deep graphs. Nature");
    for (first, end, label) in [(4, 8, "nonsense"), (4, 800, "title"), (8, 4, "title")] {
        let force = json!([{ "first": first, "end": end, "label": label }]);
        let reply = service.post("/api/v1/cite", &ask(force));
        assert_eq!(reply.status, 422);
        assert!(reply.error().contains("expected tokens of the reference"), "{reply:?}");
    }
}

#[test]
fn several_references_in_a_line_are_told() {
    let service = Service::start(&[]);
    let line = "Smith, J. (2001). Deep graphs. Nature, 12(3), 1-9. Jones, K. (2004). On trees and rules. \
                Science, 7(1), 22-30. Miller, B. (1999). Chains. Cell, 2(2), 3-4.";
    let answer = service.answer("/api/v1/cite", &json!({ "text": line }));
    if let Some(refused) = answer["references"][0]["refused"].as_str() {
        assert!(refused.contains("several references"), "{refused}");
        assert!(answer["warnings"][0].as_str().unwrap().starts_with("1 line with several"));
    }
}

#[test]
fn any_tagger_can_be_asked() {
    let folder = Folder::with_references(60, 5);
    folder.train("fields.model", &[]);
    let model = folder.path("fields.model");
    let service = Service::start(&["--model", model.to_str().unwrap()]);
    let models = service.get("/api/v1/models").json();
    let names: Vec<&str> = models["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["references", "fields"]);
    let columns = folder.read("test.txt");
    let ask = json!({ "model": "fields", "columns": columns, "n_best": 2 });
    let answer = service.answer("/api/v1/tag", &ask);
    let sequences = answer["sequences"].as_array().unwrap();
    assert_eq!(sequences.len(), 5);
    let written = folder.succeeds(&["tag", "fields.model", "test.txt", "--marginals", "--quiet"]);
    let written = written.lines().filter(|line| !line.is_empty());
    let mut rows = sequences.iter().flat_map(|own| {
        let best = &own["best"][0];
        own["rows"].as_array().unwrap().iter().enumerate().map(move |(t, row)| {
            (row.as_str().unwrap(), best["labels"][t].as_str().unwrap(), &best["probabilities"][t])
        })
    });
    for line in written {
        let (row, label, probability) = rows.next().unwrap();
        let own = format!("{row}\t{label}\t{:.6}", probability.as_f64().unwrap());
        assert!(line.starts_with(&own), "{line} is not {own}");
    }
    assert_eq!(rows.next(), None);
    for own in sequences {
        assert_eq!(own["best"].as_array().unwrap().len(), 2);
        for row in own["marginals"].as_array().unwrap() {
            let total: f64 = row.as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
    }
}

#[test]
fn problems_are_checked_and_solved() {
    let service = Service::start(&[]);
    let check = |problem: &str| service.answer("/api/v1/check", &json!({ "problem": problem }));
    assert_eq!(
        check(CONVEX),
        json!({ "valid": true, "holds": "3 variables, 2 factors, 2 energies" })
    );
    let wrong = check("{\"variables\": [2,]}");
    assert_eq!(wrong["valid"], false);
    assert!(wrong["error"].as_str().unwrap().starts_with("line 1, column 18"), "{wrong}");

    let folder = Folder::new().with("p.json", CONVEX);
    let written = folder.succeeds(&["solve", "p.json", "--format", "json", "--quiet"]);
    let written: Value = serde_json::from_str(&written).unwrap();
    let events = service.events("/api/v1/solve", &json!({ "problem": CONVEX }));
    let (last, answer) = events.last().unwrap();
    assert_eq!(last, "answer");
    assert_eq!(answer["answer"]["marginals"], written["marginals"]);
    assert!(answer["words"].as_str().unwrap().contains("Best assignment"), "{answer}");
    assert_eq!(answer["variables"][1]["states"], json!(["0", "1", "2"]));
    let iterations = &events[..events.len() - 1];
    assert_eq!(iterations.len() as u64, written["iterations"].as_u64().unwrap());
    for (name, own) in iterations {
        assert_eq!(name, "iteration");
        let number = |name: &str| own[name].as_f64().unwrap();
        assert!(number("lower_bound") <= number("objective"), "{own}");
    }
    // The same as one answer, from a problem that is not in quotes.
    let problem: Value = serde_json::from_str(CONVEX).unwrap();
    let whole = service.answer("/api/v1/solve", &json!({ "problem": problem }));
    assert_eq!(whole["answer"]["marginals"], written["marginals"]);
    let infeasible = service.answer("/api/v1/solve", &json!({ "problem": INFEASIBLE }));
    assert_eq!(infeasible["answer"]["status"], "infeasible");
}

const COUNTS: &str = "week,A,B\n1,90,10\n2,60,45\n3,20,77\n";
const CELLS: &str = "cell,x,y\nA,0,0\nB,1,0\n";

#[test]
fn flows_are_inferred_and_their_files_can_be_had() {
    let service = Service::start(&[]);
    let ask = json!({ "counts": COUNTS, "cells": CELLS, "population": 100, "options": { "forecast": 1 } });
    let events = service.events("/api/v1/flows", &ask);
    assert_eq!(events[0].0, "progress");
    let (last, answer) = events.last().unwrap();
    assert_eq!(last, "answer", "{answer}");
    let folder = Folder::new().with("counts.csv", COUNTS).with("cells.csv", CELLS);
    let command = ["flows", "counts.csv", "--cells", "cells.csv", "--population", "100"];
    let more = ["--forecast", "1", "--out", "out", "--quiet"];
    folder.succeeds(&[&command[..], &more[..]].concat());
    let names: Vec<&str> = answer["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"forecast.csv"), "{names:?}");
    for own in answer["files"].as_array().unwrap() {
        let (name, reply) =
            (own["name"].as_str().unwrap(), service.get(own["href"].as_str().unwrap()));
        assert_eq!(reply.body.len() as u64, own["bytes"].as_u64().unwrap(), "{name}");
        if name != "summary.json" {
            assert_eq!(reply.body, folder.read(&format!("out/{name}")), "{name}");
        }
    }
    let page = service.get(answer["page"].as_str().unwrap());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("sandbox allow-scripts") && policy.contains("default-src 'none'"));
    assert_eq!(service.get("/api/v1/flows/0/index.html").status, 404);
}

#[test]
fn no_option_of_flows_reads_a_file() {
    let service = Service::start(&[]);
    let refused = |options: Value| {
        let ask =
            json!({ "counts": COUNTS, "cells": CELLS, "population": 100, "options": options });
        let reply = service.post("/api/v1/flows", &ask);
        assert_eq!(reply.status, 422, "{reply:?}");
        reply.error()
    };
    for name in ["cells", "covariates", "extent", "out", "pairs", "rate", "start", "trace"] {
        let message = refused(json!({ name: "/etc/hostname" }));
        assert!(message.starts_with("options: "), "{message}");
    }
    let wrong = refused(json!({ "noise": "odd" }));
    assert!(wrong.contains("poisson"), "{wrong}");
    let ask = json!({ "counts": "week,A\n1,x\n", "cells": CELLS, "population": 100 });
    let message = service.post("/api/v1/flows", &ask).error();
    assert!(message.starts_with("counts.csv"), "{message}");
}

#[test]
fn the_description_names_every_address_and_no_other() {
    let service = Service::start(&[]);
    let description = service.get("/api/v1/openapi.json").json();
    let described: Vec<&String> = description["paths"].as_object().unwrap().keys().collect();
    let sources =
        [include_str!("../../src/serve/api/mod.rs"), include_str!("../../src/serve/grobid.rs")];
    let routes = sources.iter().flat_map(|text| text.split(".route(\"").skip(1));
    let mut routes: Vec<String> =
        routes.map(|rest| rest.split('"').next().unwrap().to_string()).collect();
    routes.push("/api/v1/flows/{id}/{file}".to_string());
    routes.sort();
    assert_eq!(described.into_iter().cloned().collect::<Vec<_>>(), routes);
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let status = service.request(&method.to_uppercase(), path, &[], b"").status;
            assert!(![0, 405, 500].contains(&status), "{method} {path}: {status}");
        }
    }
    assert_eq!(description["info"]["version"], env!("CARGO_PKG_VERSION"));
}
