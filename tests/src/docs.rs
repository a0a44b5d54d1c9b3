//! What the documents say about the tests is true.

use std::{collections::HashSet, fs, path::Path};

use crate::node::root;

/// The names of all functions below a folder, tests among them.
fn functions(folder: &Path, into: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("a readable entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !["node_modules", "target"].contains(&name) {
            functions(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("source text");
            let names = source.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            into.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn every_test_that_the_feature_table_names_exists() {
    let mut known = HashSet::new();
    for folder in ["crates", "tests", "examples"] {
        functions(&root().join(folder), &mut known);
    }
    let document = fs::read_to_string(root().join("docs/tsrpc.md")).expect("the feature table");
    let rows = document.lines().filter(|line| line.starts_with("| ")).skip(1);
    let mut named = 0;
    for row in rows {
        let tests = row.trim_end_matches('|').rsplit('|').next().expect("a last column");
        for name in tests.split('`').skip(1).step_by(2) {
            assert!(known.contains(name), "no test is called {name}: {row}");
            named += 1;
        }
    }
    assert!(named > 60, "the table names {named} tests only: is it read rightly?");
}
