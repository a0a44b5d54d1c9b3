//! Random types and values through our codec and through npm `tsbuffer`: the same
//! bytes, the same values, the same verdicts with the same texts.
//!
//! Where the published package has a defect that we mend (reference §15), our
//! answer has to be the one that it gives with exactly those defects mended: there
//! is a copy of it (`tests/interop/lib/mended.mjs`) in which they are. So a
//! difference is admitted by what causes it, never by what it looks like.
//!
//! `POLYWIRE_PAIRS` says how many pairs (100,000 unless set), `POLYWIRE_SEED` the
//! seed of the first (1 unless set). A pair that fails is printed with the seed
//! that gives it alone.

mod answer;
mod case;

use std::{collections::BTreeMap, env};

use polywire_schema::Value;
use polywire_tests::{
    node::{self, LineProcess, Need},
    notation,
    random::{random_sound_types, random_types},
    vectors::say,
};
use serde_json::Value as Json;

use crate::{
    answer::Answer,
    case::{Call, Case},
};

/// How many pairs are compared.
const PAIRS: u64 = 100_000;

/// How many pairs are asked about in one line: enough that the other process never waits.
const BATCH: usize = 100;

/// How many answers that differ are told in full.
const TOLD: usize = 12;

#[test]
fn random_pairs_are_as_published() {
    if !node::available(Need::Node, "the comparison of random pairs with npm tsbuffer") {
        return;
    }
    let (pairs, first) = (setting("POLYWIRE_PAIRS", PAIRS), setting("POLYWIRE_SEED", 1));
    let new_case = |seed: u64| Case::new(seed, random_sound_types);
    let mut worker = LineProcess::start(&mut node::program("tsbuffer-worker.mjs"));
    let mut tally = Tally::default();
    let mut asked: Vec<Case> = Vec::new();
    let seeds: Vec<u64> = (first..first.saturating_add(pairs)).collect();
    for seeds in seeds.chunks(BATCH) {
        // While the other process answers, the next pairs are made.
        let cases: Vec<Case> = seeds.iter().copied().map(new_case).collect();
        let jobs = Json::Array(cases.iter().map(Case::job).collect()).to_string();
        let line = (!asked.is_empty()).then(|| worker.read());
        worker.send(&jobs);
        if let Some(line) = line {
            tally.compare(&asked, &line);
        }
        asked = cases;
    }
    tally.compare(&asked, &worker.read());
    for differing in std::mem::take(&mut tally.differing).chunks(BATCH) {
        let cases: Vec<(Case, &[usize])> =
            differing.iter().map(|(seed, calls)| (new_case(*seed), calls.as_slice())).collect();
        worker.send(&Json::Array(cases.iter().map(|(case, calls)| case.mended_job(calls)).collect()).to_string());
        tally.explain(&cases, &worker.read());
    }
    tally.finish(pairs, first);
}

/// What TypeScript would refuse is for nobody to agree on.
#[test]
fn types_that_contradict_themselves_do_no_harm() {
    for seed in 0..setting("POLYWIRE_PAIRS", PAIRS) / 10 {
        let case = Case::new(seed, random_types);
        for call in &case.calls {
            // Whatever it says.
            let _answer = case.answer(call);
        }
    }
}

/// What came out so far.
#[derive(Default)]
struct Tally {
    answers: usize,
    /// Which calls of which seed are answered otherwise than published.
    differing: Vec<(u64, Vec<usize>)>,
    /// How many of them each mend explains.
    mended: BTreeMap<String, usize>,
    failures: Vec<String>,
}

impl Tally {
    fn compare(&mut self, cases: &[Case], line: &str) {
        for (case, published) in cases.iter().zip(answers(line)) {
            let published = list(&published, case);
            assert_eq!(published.len(), case.calls.len(), "seed {}: an answer to each call", case.seed);
            self.answers += published.len();
            let differs = |at: &usize| !case.answer(&case.calls[*at]).agrees(&Answer::read(&published[*at]));
            let differing: Vec<usize> = (0..published.len()).filter(differs).collect();
            if !differing.is_empty() {
                self.differing.push((case.seed, differing));
            }
        }
    }

    fn explain(&mut self, cases: &[(Case, &[usize])], line: &str) {
        for ((case, calls), answers) in cases.iter().zip(answers(line)) {
            for (at, answer) in calls.iter().zip(list(&answers, case)) {
                let call = &case.calls[*at];
                if case.answer(call).agrees(&Answer::read(&answer["mended"])) {
                    let mends = answer["by"].as_str().unwrap_or_else(|| panic!("seed {}: {answer}", case.seed));
                    *self.mended.entry(mends.to_owned()).or_default() += 1;
                } else {
                    self.failures.push(describe(case, call, answer));
                }
            }
        }
    }

    fn finish(self, pairs: u64, first: u64) {
        let (answers, differ) = (self.answers, self.failures.len());
        let mut summary = format!("{pairs} pairs from seed {first}: {answers} answers compared, {differ} differ");
        for (mends, count) in &self.mended {
            summary += &format!("\n    {count} as mended: {mends}");
        }
        say(&summary);
        let told = &self.failures[..differ.min(TOLD)];
        assert!(self.failures.is_empty(), "{differ} answers differ:\n{}", told.join("\n"));
    }
}

/// The answers in a line of the worker.
fn answers(line: &str) -> Vec<Json> {
    // Texts of errors may quote halves of surrogate pairs, which `serde_json` refuses.
    match plain(Value::parse_json(line).expect("the worker answers in JSON")) {
        Json::Array(answers) => answers,
        other => panic!("no list of answers: {other}"),
    }
}

fn list<'j>(answers: &'j Json, case: &Case) -> &'j [Json] {
    answers.as_array().unwrap_or_else(|| panic!("seed {}: {answers}", case.seed))
}

fn describe(case: &Case, call: &Call, answer: &Json) -> String {
    let theirs = |name: &str| Answer::read(&answer[name]);
    format!(
        "seed {} {:?}\n  types {}\n  value {}\n  {call:?}\n  ours      {:?}\n  published {:?}\n  mended    {:?}",
        case.seed,
        case.options,
        case.proto(),
        notation::write(&case.value),
        case.answer(call),
        theirs("published"),
        theirs("mended"),
    )
}

/// JSON text that was read as a value, each lone surrogate replaced.
fn plain(value: Value) -> Json {
    match value {
        Value::Bool(value) => value.into(),
        Value::Number(number) if number.fract() == 0.0 && number.abs() < 2f64.powi(53) => (number as i64).into(),
        Value::Number(number) => number.into(),
        Value::String(text) => text.into_string_lossy().into(),
        Value::Array(elements) => elements.into_iter().map(plain).collect(),
        Value::Object(object) => object.into_iter().map(|(key, value)| (String::from(key), plain(value))).collect(),
        _ => Json::Null,
    }
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} is no number: {value}")))
}
