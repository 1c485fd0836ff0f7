//! The blocks of a launch on the cores of the machine.
//!
//! Blocks are started in order, as many at a time as there are workers. If no loop of the kernel may wait for other
//! blocks, each is run to its end. Otherwise a block that has been in such loops for a while is put aside, another is
//! started, and it has its turn again; so a block may also wait for one that has not started yet, even with one
//! worker. A block that is stuck is left alone until another has changed memory. If all that are left are stuck,
//! nothing will ever happen, and they are given up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::buffer::OutOfMemory;
use crate::launch::Outcome;
use crate::machine::{Faults, Launch, Machine, Status};

/// Runs all blocks of a launch, `workers` at a time, calls `output` with each line, and counts the blocks that have ended.
pub(crate) fn run(
    launch: &Launch<'_>,
    workers: usize,
    output: &mut (dyn FnMut(&str) + Send),
    ended: Option<&AtomicU64>,
) -> Result<Outcome, OutOfMemory> {
    let blocks = launch.config.blocks();
    if blocks == 0 {
        return Ok(Outcome::default());
    }
    let workers = (workers as u64).min(blocks) as usize;
    let results = Results {
        ended,
        prints: launch.code.prints_lines,
        state: Mutex::new(ResultsState {
            faults: Faults::default(),
            first_block: 0,
            next: 0,
            finished: BTreeMap::new(),
            output,
        }),
    };
    // If there is not enough memory for more workers, fewer do.
    let machine = Machine::new(launch)?;
    if launch.code.waits {
        let queue = Queue::new(launch, blocks);
        in_parallel(workers, machine, |machine| queue.work(machine, &results));
    } else {
        let next = AtomicU64::new(0);
        let step = (blocks / (workers as u64 * 8)).clamp(1, 64);
        in_parallel(workers, machine, |machine| {
            let mut machine = match machine.map_or_else(|| Machine::new(launch), Ok) {
                Ok(machine) => machine,
                Err(_) => return,
            };
            loop {
                let first = next.fetch_add(step, Ordering::Relaxed);
                if first >= blocks {
                    return;
                }
                for block in first..blocks.min(first + step) {
                    machine.start(block);
                    machine.run();
                    results.add(&mut machine);
                }
            }
        });
    }
    let faults = results.state.into_inner().unwrap_or_else(PoisonError::into_inner).faults;
    Ok(Outcome { first_fault: faults.first, fault_count: faults.count })
}

/// Calls `work` on `workers` threads, this one included, which gets the machine that is there already.
fn in_parallel<'a>(workers: usize, machine: Machine<'a>, work: impl Fn(Option<Machine<'a>>) + Sync) {
    if workers == 1 {
        return work(Some(machine));
    }
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| work(None));
        }
        work(Some(machine));
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Faults and lines of blocks that are done.
struct Results<'o> {
    ended: Option<&'o AtomicU64>,
    /// Whether there are lines.
    prints: bool,
    state: Mutex<ResultsState<'o>>,
}

struct ResultsState<'o> {
    faults: Faults,
    /// The block of the first fault.
    first_block: u64,
    /// The first block that is not done.
    next: u64,
    /// Lines of blocks after it that are done.
    finished: BTreeMap<u64, Vec<String>>,
    output: &'o mut (dyn FnMut(&str) + Send),
}

impl Results<'_> {
    /// Takes over what a block has left behind, when it is done.
    fn add(&self, machine: &mut Machine<'_>) {
        machine.announce_end();
        if let Some(ended) = self.ended {
            ended.fetch_add(1, Ordering::Relaxed);
        }
        let (block, faults) = (machine.block(), machine.take_faults());
        if faults.count == 0 && !self.prints {
            return;
        }
        let mut state = lock(&self.state);
        let state = &mut *state;
        state.faults.merge(&mut state.first_block, faults, block);
        if self.prints {
            state.finished.insert(block, machine.take_lines());
            while let Some(lines) = state.finished.remove(&state.next) {
                lines.iter().for_each(|line| (state.output)(line));
                state.next += 1;
            }
        }
    }
}

/// Blocks of a kernel in which blocks may wait for each other.
struct Queue<'a> {
    launch: &'a Launch<'a>,
    blocks: u64,
    state: Mutex<QueueState<'a>>,
    /// Told when a block has stopped running.
    stopped: Condvar,
}

struct QueueState<'a> {
    /// The first block that has not started.
    next: u64,
    /// Blocks that can run on.
    ready: VecDeque<Machine<'a>>,
    /// Blocks that are stuck, and how often memory had been changed before they last looked at it.
    stuck: Vec<(Machine<'a>, u64)>,
    /// Machines of blocks that are done.
    idle: Vec<Machine<'a>>,
    /// How many blocks are running.
    running: usize,
    /// How often memory was changed by blocks that stopped since.
    changes: u64,
    /// Whether it is the turn of a block that has not started.
    start: bool,
}

impl<'a> Queue<'a> {
    fn new(launch: &'a Launch<'a>, blocks: u64) -> Queue<'a> {
        Queue {
            launch,
            blocks,
            state: Mutex::new(QueueState {
                next: 0,
                ready: VecDeque::new(),
                stuck: Vec::new(),
                idle: Vec::new(),
                running: 0,
                changes: 0,
                start: true,
            }),
            stopped: Condvar::new(),
        }
    }

    /// Runs blocks until none is left.
    fn work(&self, machine: Option<Machine<'a>>, results: &Results<'_>) {
        let mut state = lock(&self.state);
        state.idle.extend(machine);
        loop {
            let Some(mut machine) = self.choose(&mut state) else {
                if state.running > 0 {
                    state = self.stopped.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                // Nobody can change anything for those that are stuck.
                state.stuck.sort_by_key(|(machine, _)| machine.block());
                for (mut machine, _) in state.stuck.drain(..) {
                    machine.give_up();
                    results.add(&mut machine);
                }
                return;
            };
            let seen = state.changes;
            state.running += 1;
            drop(state);
            let status = machine.run();
            if status == Status::Done {
                results.add(&mut machine);
            }
            state = lock(&self.state);
            state.running -= 1;
            state.changes += machine.take_changes();
            match status {
                Status::Done => state.idle.push(machine),
                Status::Paused => state.ready.push_back(machine),
                Status::Stuck => state.stuck.push((machine, seen)),
            }
            self.stopped.notify_all();
        }
    }

    /// The block to run next: one that has not started and one that has, in turn.
    fn choose(&self, state: &mut QueueState<'a>) -> Option<Machine<'a>> {
        let changes = state.changes;
        let (ready, stuck) = (&mut state.ready, &mut state.stuck);
        ready.extend(stuck.extract_if(.., |(_, seen)| *seen != changes).map(|(machine, _)| machine));
        let start = state.start;
        state.start = !start;
        if !start && let Some(machine) = state.ready.pop_front() {
            return Some(machine);
        }
        if state.next < self.blocks {
            // Without memory for one more block, those that have started go on.
            if let Some(mut machine) = state.idle.pop().or_else(|| Machine::new(self.launch).ok()) {
                machine.start(state.next);
                state.next += 1;
                return Some(machine);
            }
        }
        state.ready.pop_front()
    }
}
