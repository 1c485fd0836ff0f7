//! What an observer of a launch is told.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use tilewise_interp::{
    AccessEvent, Arg, BlockObserver, Buffer, Chunks, Effect, GivenUp, LaunchConfig, Observer, Options,
    Program, ThreadFault, Threads, Words,
};
use tilewise_ir::{FaultKind, Kernel, Ordering, Scalar, Scope, Span};

/// Writes events down as lines.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

struct BlockLog<'a> {
    log: &'a Log,
    block: u64,
}

impl Observer for Log {
    fn watch(&self) -> Box<dyn BlockObserver + '_> {
        Box::new(BlockLog { log: self, block: 0 })
    }
}

impl BlockLog<'_> {
    fn line(&self, line: String) {
        self.log.0.lock().unwrap().push(format!("{}: {line}", self.block));
    }
}

fn list(threads: &Threads) -> String {
    threads.iter().map(|thread| thread.to_string()).collect::<Vec<_>>().join(" ")
}

impl BlockObserver for BlockLog<'_> {
    fn start(&mut self, block: u64) {
        self.block = block;
        self.line("start".to_owned());
    }

    fn access(&mut self, event: &AccessEvent<'_>) {
        let words = match &event.words {
            Words::Same(word) => format!("all {word}"),
            Words::Chunks(chunks) => {
                let words = chunks.iter().flat_map(|chunk| {
                    let lanes = (0..Chunks::LANES).filter(move |lane| chunk.active >> lane & 1 != 0);
                    lanes.map(move |lane| chunk.word(lane).to_string()).collect::<Vec<_>>()
                });
                words.collect::<Vec<_>>().join(" ")
            }
            Words::Each(spots) => {
                spots.iter().map(|s| format!("{}@{}", s.word, s.thread)).collect::<Vec<_>>().join(" ")
            }
        };
        let effect = match &event.effect {
            Effect::Load => "load".to_owned(),
            Effect::Store(values) => {
                let first = event.threads.iter().next().unwrap();
                format!("store {}", values.get(first, 0))
            }
            Effect::Atomic(outcomes) => {
                let outcome = |o: &tilewise_interp::AtomicOutcome| {
                    format!("{}:{}->{:?}", o.thread, o.before, o.written)
                };
                format!("atomic {}", outcomes.iter().map(outcome).collect::<Vec<_>>().join(" "))
            }
        };
        self.line(format!("site {} {effect} at {words} by {}", event.site, list(event.threads)));
    }

    fn barrier(&mut self, _: Span, threads: &Threads) {
        self.line(format!("barrier {}", list(threads)));
    }

    fn warp_barrier(&mut self, _: Span, threads: &Threads) {
        self.line(format!("warp barrier {}", list(threads)));
    }

    fn fence(&mut self, scope: Scope, ordering: Ordering, threads: &Threads) {
        self.line(format!("fence {scope:?} {ordering:?} {}", list(threads)));
    }

    fn fault(&mut self, fault: &ThreadFault) {
        let what = match &fault.kind {
            FaultKind::OutOfBounds { index, extent, .. } => format!("{index} of {extent}"),
            other => format!("{other:?}"),
        };
        self.line(format!("fault {what} at site {:?} by {}", fault.site, fault.thread));
    }

    fn give_up(&mut self, why: &GivenUp) {
        let groups = match why {
            GivenUp::Divergence { waiting, ended } => {
                format!("divergence {} | {}", list(&waiting[0].1), list(ended))
            }
            GivenUp::WarpDivergence { waiting, ended } => {
                format!("divergence in a warp {} | {}", list(&waiting[0].1), list(ended))
            }
            GivenUp::NoProgress { spinning, .. } => format!("no progress {}", list(&spinning[0].1)),
            GivenUp::TooManyRounds { rounds, running } => format!("{rounds} rounds {}", list(&running[0].1)),
        };
        self.line(format!("give up: {groups}"));
    }

    fn finish(&mut self) {
        self.line("finish".to_owned());
    }
}

fn events(body: &str, grid: u32, block: u32) -> Vec<String> {
    let text = format!(
        "kernel @k(%out: tensor<u32, 1, mut>) {{
           shared %s: array<u32, 8>
           %t = thread_idx.x
           %v = cast %t to u32
           %n = extent %out.0
           %zero = const index 0
           %one = const u32 1
           %two = const index 2
           {body}
           return
         }}"
    );
    let kernel: Kernel = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = Program::compile(&kernel).unwrap();
    let out = Buffer::new(Scalar::U32, 4).unwrap();
    let args = [Arg::Tensor { buffer: &out, offset: 0, extents: &[4], strides: &[1] }];
    let log = Log::default();
    let options = Options {
        threads: NonZeroUsize::new(1),
        observer: Some(&log),
        max_rounds: Some(1000),
        ..Options::default()
    };
    program.run(LaunchConfig { grid: [grid, 1, 1], block: [block, 1, 1] }, &args, options).unwrap();
    log.0.into_inner().unwrap()
}

#[test]
fn accesses_barriers_and_fences() {
    let found = events(
        "store %s[%t], %v
         barrier
         %x = load %s[%two] : u32
         fence device acquire
         store %out[%t], %x if (0: %t < %n)",
        2,
        3,
    );
    let block = |b: u32| {
        [
            "start",
            "site 0 store 0 at 0 1 2 by 0 1 2",
            "barrier 0 1 2",
            "site 1 load at all 2 by 0 1 2",
            "fence Device Acquire 0 1 2",
            "site 2 store 2 at 0 1 2 by 0 1 2",
            "finish",
        ]
        .map(|line| format!("{b}: {line}"))
    };
    assert_eq!(found, [block(0), block(1)].concat());
}

#[test]
fn atomics_after_they_happened() {
    let found = events("%old = atomic_add device relaxed %out[%zero], %one", 1, 3);
    assert_eq!(found[1], "0: site 0 atomic 0:0->Some(1) 1:1->Some(2) 2:2->Some(3) at  by 0 1 2");
    let found = events("%old = atomic_cas device relaxed %out[%zero], %v, %one", 1, 2);
    // Thread 0 finds what it expects, and so does thread 1.
    assert_eq!(found[1], "0: site 0 atomic 0:0->Some(1) 1:1->Some(1) at  by 0 1");
}

#[test]
fn every_fault_is_told() {
    let found = events("store %out[%t], %v if (0: %t < %n)", 1, 6);
    assert_eq!(
        found[1..4],
        [
            "0: site 0 store 0 at 0@0 1@1 2@2 3@3 by 0 1 2 3 4 5",
            "0: fault 4 of 4 at site Some(0) by 4",
            "0: fault 5 of 4 at site Some(0) by 5",
        ]
    );
}

#[test]
fn blocks_that_are_given_up() {
    let found = events("%c = lt %t, %two\nif %c {\nbarrier\n}", 1, 4);
    assert_eq!(found[1..], ["0: give up: divergence 0 1 | 2 3", "0: finish"]);
    let found = events(
        "%three = const index 3
         %c = loop ^l carry (%i = %zero) : index {
           %j = add %i, %two
           %odd = eq %j, %three
           if %odd {
             break ^l %j
           }
           continue ^l %j
         }",
        1,
        2,
    );
    assert_eq!(found[1..], ["0: give up: 1000 rounds 0 1", "0: finish"]);
}

#[test]
fn barriers_of_warps_are_told_by_mask() {
    let body = "
        %mask = const u32 4294967295
        warp_barrier %mask
    ";
    let barriers: Vec<String> =
        events(body, 1, 40).into_iter().filter(|line| line.contains("warp barrier")).collect();
    assert_eq!(barriers.len(), 2, "{barriers:?}");
    assert!(
        barriers[0].ends_with(&list_of(0..32)) && barriers[1].ends_with(&list_of(32..40)),
        "{barriers:?}"
    );
}

fn list_of(threads: std::ops::Range<u32>) -> String {
    threads.map(|thread| thread.to_string()).collect::<Vec<_>>().join(" ")
}
