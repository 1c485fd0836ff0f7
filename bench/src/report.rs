//! Results: records, a table for each benchmark, and lines of JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What was measured of one kernel of ours or of a peer. A line of JSON is one of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Name of the benchmark.
    pub(crate) benchmark: String,
    /// Who wrote it: `tilewise`, `tilewise unchecked` (no bounds checks), `cuda` (CUDA C++), `cub`, ...
    pub(crate) by: String,
    /// The algorithm.
    pub(crate) name: String,
    /// Median of the times.
    pub(crate) seconds_median: f64,
    /// The shortest of them.
    pub(crate) seconds_min: f64,
    /// Median of the times that the host took to enqueue it, where that is another time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds_host: Option<f64>,
    /// Bytes that it has to read and write at least; 0 where that says nothing.
    #[serde(default)]
    pub(crate) bytes: u64,
    /// Additions and multiplications of floats; 0 where that says nothing.
    #[serde(default)]
    pub(crate) flops: u64,
    /// The device, by the name that opens it. A peer has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// How the result was found right.
    #[serde(default)]
    pub(crate) check: String,
    /// How fast it is beside its peers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ratios: Vec<Ratio>,
    /// The time that it is to take at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) aim_seconds: Option<f64>,
}

/// Speed beside a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    /// The peer, as `by/name`.
    pub(crate) peer: String,
    /// The peer's time over ours: 1 is as fast, more is faster.
    pub(crate) ratio: f64,
    /// The ratio that is aimed at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) aim: Option<f64>,
}

/// A peer that a kernel is compared with, as `by/name`, and the ratio that is aimed at.
pub(crate) type Against = (&'static str, Option<f64>);

impl Record {
    /// `by/name`.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.by, self.name)
    }

    /// Bytes a second, in units of 10^9.
    pub(crate) fn gigabytes(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.bytes as f64 / self.seconds_median / 1e9)
    }

    fn teraflops(&self) -> Option<f64> {
        (self.flops > 0).then(|| self.flops as f64 / self.seconds_median / 1e12)
    }

    /// Adds the ratios to those of `peers` that were measured.
    pub(crate) fn compare(&mut self, against: &[Against], peers: &[Record]) {
        for &(label, aim) in against {
            if let Some(peer) = peers.iter().find(|peer| peer.label() == label) {
                let ratio = peer.seconds_median / self.seconds_median;
                self.ratios.push(Ratio { peer: label.to_owned(), ratio, aim });
            }
        }
    }
}

/// What was measured so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    records: Vec<Record>,
    /// The fastest copy on each device, in bytes a second over 10^9.
    copies: BTreeMap<Option<String>, f64>,
}

impl Report {
    /// Prints the results of a benchmark as a table, and keeps them.
    pub(crate) fn add(&mut self, title: &str, records: Vec<Record>) {
        let device = records.first().and_then(|record| record.device.clone());
        let title = match &device {
            Some(device) => format!("{title}, on {device}"),
            None => title.to_owned(),
        };
        if !self.copies.contains_key(&device)
            && let Some(copy) = records.iter().filter_map(Record::gigabytes).max_by(f64::total_cmp)
        {
            self.copies.insert(device.clone(), copy);
        }
        print!("{}", table(&title, &records, self.copies.get(&device).copied()));
        self.records.extend(records);
    }

    /// The record of the same kernel on a device.
    pub(crate) fn on(&self, device: &str, record: &Record) -> Option<&Record> {
        let key = |record: &Record| (record.benchmark.clone(), record.label());
        self.records.iter().find(|other| other.device.as_deref() == Some(device) && key(other) == key(record))
    }

    /// Writes all results to a file, a line of JSON each.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let lines: std::result::Result<Vec<String>, serde_json::Error> =
            self.records.iter().map(serde_json::to_string).collect();
        let written = lines.map_err(std::io::Error::from).and_then(|mut lines| {
            lines.push(String::new());
            fs::write(path, lines.join("\n"))
        });
        written.map_err(|source| Error::Write { path: path.to_owned(), source })
    }
}

fn table(title: &str, records: &[Record], copy: Option<f64>) -> String {
    let mut text = format!("\n{title}\n");
    let width = records.iter().map(|r| r.label().len()).max().unwrap_or(0).max(30);
    let _ = writeln!(
        text,
        "{:<width$} {:>10} {:>10} {:>10} {:>8} {:>8} {:>7}  check",
        "", "median", "min", "host", "GB/s", "TFLOP/s", "of copy"
    );
    for record in records {
        let gigabytes = record.gigabytes();
        let share = gigabytes.zip(copy).map(|(bandwidth, copy)| bandwidth / copy);
        let _ = writeln!(
            text,
            "{:<width$} {:>10} {:>10} {:>10} {:>8} {:>8} {:>7}  {}",
            record.label(),
            time(Some(record.seconds_median)),
            time(Some(record.seconds_min)),
            time(record.seconds_host),
            number(gigabytes, 1),
            number(record.teraflops(), 3),
            number(share, 3),
            record.check,
        );
        for Ratio { peer, ratio, aim } in &record.ratios {
            let verdict = match aim {
                Some(aim) => format!(", aim {aim:.2}: {}", if ratio >= aim { "met" } else { "MISSED" }),
                None => String::new(),
            };
            let _ = writeln!(text, "    {ratio:.3} of {peer}{verdict}");
        }
        if let Some(aim) = record.aim_seconds {
            let verdict = if record.seconds_median < aim { "met" } else { "MISSED" };
            let _ = writeln!(text, "    aim {}: {verdict}", time(Some(aim)));
        }
    }
    text
}

/// A time in a unit that suits it.
fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "-".to_owned(),
        Some(s) if s < 1e-3 => format!("{:.2} us", s * 1e6),
        Some(s) if s < 1.0 => format!("{:.3} ms", s * 1e3),
        Some(s) => format!("{s:.3} s"),
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(by: &str, seconds: f64) -> Record {
        Record {
            benchmark: "dot".to_owned(),
            by: by.to_owned(),
            name: "tree".to_owned(),
            seconds_median: seconds,
            seconds_min: seconds,
            bytes: 8_000_000_000,
            flops: 2_000_000_000,
            check: "exact".to_owned(),
            ..Record::default()
        }
    }

    #[test]
    fn a_table_has_speeds_and_ratios() {
        let mut ours = record("tilewise", 0.004);
        ours.compare(
            &[("cuda/tree", Some(1.0)), ("cub/sum", None), ("absent/x", None)],
            &[record("cuda", 0.003)],
        );
        let text = table("dot", &[ours], Some(4000.0));
        let expected = "
dot
                                   median        min       host     GB/s  TFLOP/s of copy  check
tilewise/tree                    4.000 ms   4.000 ms          -   2000.0    0.500   0.500  exact
    0.750 of cuda/tree, aim 1.00: MISSED
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_record_is_a_line_of_json_and_back() {
        let mut record = record("cub", 0.5);
        record.compare(&[("cub/tree", Some(0.98))], &[record.clone()]);
        let line = serde_json::to_string(&record).expect("a record has only strings and numbers");
        assert!(!line.contains('\n') && line.contains(r#""seconds_median":0.5"#), "{line}");
        assert_eq!(serde_json::from_str::<Record>(&line).expect("what was written"), record);
    }

    #[test]
    fn what_a_peer_leaves_out_is_nothing() {
        let line = r#"{"benchmark":"dot","by":"cub","name":"sum","seconds_median":1e-3,"seconds_min":1e-3}"#;
        let record: Record = serde_json::from_str(line).expect("the fields without a default");
        assert_eq!((record.bytes, record.gigabytes(), record.ratios), (0, None, vec![]));
    }
}
