//! `bethe demo`: the tour runs anywhere, and what it leaves behind works.

use assert_cmd::Command;
use serde_json::Value;

fn bethe() -> Command {
    Command::cargo_bin("bethe").unwrap()
}

#[test]
fn the_tour_shows_what_energies_change_and_leaves_problems_and_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tour");
    let output = bethe().args(["demo", "--all", "--out"]).arg(&out).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();

    // The page has every part, the pictures and the map, and asks for nothing else.
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    for title in text.lines().filter(|line| line.as_bytes().get(1) == Some(&b'.')) {
        assert!(page.contains(&format!(">{title}</h2>")), "{title}");
    }
    assert_eq!(page.matches("<h2 ").count(), 7);
    assert_eq!((page.matches("<figure><svg").count(), page.matches("srcdoc=").count()), (5, 1));
    let links = page.split(['"', '\'']).filter(|word| word.starts_with("http"));
    assert!(links.clone().all(|link| link.starts_with("http://www.w3.org/")), "{links:?}");

    // The rule on titles changes the reading of the publisher's name.
    let morgan = text.lines().find(|line| line.trim_start().starts_with("Morgan")).unwrap();
    assert!(morgan.contains("title-begin") && morgan.contains("publisher"), "{morgan}");
    // Every solver converged on it, and the dictionary's best word is certified.
    for solver in ["rda", "mirror-descent", "accelerated-rda", "adaptive", "dual"] {
        let line = text.lines().find(|line| line.trim_start().starts_with(solver)).unwrap();
        assert!(line.ends_with("converged"), "{line}");
        let picture = std::fs::read_to_string(out.join(format!("titles-{solver}.svg"))).unwrap();
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
    }
    let best = text.lines().find(|line| line.contains("best word")).unwrap();
    assert!(best.contains("house"), "{best}");

    // Rules make the tagger better, and the models it leaves behind work.
    let line = text.lines().find(|line| line.contains("without a mistake")).unwrap();
    let shares: Vec<f64> = line.split_whitespace().filter_map(|cell| cell.parse().ok()).collect();
    assert!(shares[1] > shares[0] + 10.0, "{line}");
    for model in ["plain.safetensors", "rules.safetensors"] {
        let test = out.join("references-test.txt");
        bethe().arg("tag").arg(out.join(model)).arg(&test).assert().success();
        bethe().arg("check").arg(out.join(model)).assert().success();
    }

    // Labels that share weights learn more from few references.
    let (_, after) = text.split_once("F1 of fields on the others from ").unwrap();
    let words = after.split_whitespace().map(|word| word.trim_end_matches('.'));
    let shares: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
    assert!(shares[1] > shares[0] + 2.0, "{after}");

    // Inferred counts are nearer to the truth than those observed, and the map is there.
    let line = text.lines().find(|line| line.contains("birds in the wrong cell")).unwrap();
    let shares: Vec<f64> =
        line.split_whitespace().filter_map(|word| word.strip_suffix('%')?.parse().ok()).collect();
    assert!(shares[1] < 0.8 * shares[0], "{line}");
    assert!(out.join("birds/index.html").exists() && out.join("birds/frames/014.svg").exists());
    let (_, command) = text.split_once("try   bethe flows").unwrap();
    let (command, _) = command.split_once("\n\n").unwrap();
    let arguments = command.split_whitespace().filter(|word| *word != "\\");
    bethe().arg("flows").args(arguments).assert().success();

    // All fits into 80 columns, but for names of folders.
    let name = out.display().to_string();
    let fits = |line: &&str| line.chars().count() <= 80 || line.contains(&name);
    let wide: Vec<&str> = text.lines().filter(|line| !fits(line)).collect();
    assert!(wide.is_empty(), "{wide:?}");

    for (problem, status) in [
        ("titles", "converged"),
        ("words", "stationary"),
        ("grid", "stationary"),
        ("census", "converged"),
    ] {
        let file = out.join(format!("{problem}.json"));
        let solved = bethe().arg("solve").arg(&file).output().unwrap();
        let answer: Value = serde_json::from_slice(&solved.stdout).unwrap();
        assert_eq!(answer["status"], status, "{problem}");
        bethe().arg("check").arg(&file).assert().success();
    }
    let drawn =
        bethe().arg("sample").arg(out.join("census.json")).args(["--records", "5"]).output();
    let drawn = String::from_utf8(drawn.unwrap().stdout).unwrap();
    assert_eq!((drawn.lines().next(), drawn.lines().count()), (Some("age,work,home"), 6));
    let (model, evidence) = (out.join("ring.uai"), out.join("ring.evid"));
    let solved = bethe()
        .arg("solve")
        .arg(model)
        .arg("--evidence")
        .arg(evidence)
        .args(["--format", "mar"])
        .output();
    assert!(solved.unwrap().stdout.starts_with(b"MAR\n4 2 0 1 2 "));
}

#[test]
fn the_short_tour_is_a_screen_and_a_half_without_colours_in_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let output = bethe().arg("demo").current_dir(&folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\n2. ") && !text.contains("\n3. ") && !text.contains('\x1b'), "{text}");
    assert!(text.lines().count() <= 60, "{text}");
    let left: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["bethe-demo"]);
}

#[test]
fn a_file_of_somebody_elses_is_found_before_the_tour_begins() {
    let folder = tempfile::tempdir().unwrap();
    let tour = folder.path().join("tour");
    assert!(bethe().arg("demo").arg("-o").arg(&tour).output().unwrap().status.success());
    let mut names = Vec::new();
    visit(&tour, "", &mut names);
    names.retain(|name| !name.ends_with(".bethe-files"));
    assert!(names.len() > 50, "{names:?}");
    for name in names {
        let own = tempfile::tempdir().unwrap();
        let taken = own.path().join("full").join(&name);
        std::fs::create_dir_all(taken.parent().unwrap()).unwrap();
        std::fs::write(&taken, "mine").unwrap();
        let output = bethe().current_dir(&own).args(["demo", "-o", "full"]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{name}: {message}");
        let expected =
            format!("error: full/{name}: found a file that an earlier run did not write");
        assert!(message.starts_with(&expected), "{message}");
        assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
    }
}

/// The names of all files in a folder.
fn visit(folder: &std::path::Path, prefix: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => visit(&entry.path(), &format!("{name}/"), found),
            false => found.push(name),
        }
    }
}

#[test]
fn folders_and_files_are_only_made_in_folders_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let output = bethe().current_dir(&folder).args(["demo", "-o", "far/tour"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, "error: far/tour: cannot create: there is no folder far\n");
    assert!(!folder.path().join("far").exists());
    let output = bethe().current_dir(&folder).args(["demo", "-o", "."]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let expected = "error: .: cannot write into the current folder itself; choose another, such as \
                    ./out\n";
    assert_eq!(message, expected);
}

#[test]
fn a_folder_that_cannot_be_made_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("taken");
    std::fs::write(&file, "not a folder").unwrap();
    let output = bethe().arg("demo").arg("--out").arg(file.join("tour")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("tour: cannot create: there is no folder "), "{message}");
}
