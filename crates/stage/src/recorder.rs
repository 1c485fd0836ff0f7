//! The kernel that is being described: a builder for each thread, and what goes wrong while describing.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use smallvec::SmallVec;
use tilewise_ir::{Builder, Const, Kernel, Op, ParamKind, Type, Value};

/// What went wrong while a kernel was described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StageError {
    /// A word of the kernel language was used wrongly.
    #[error("{location}: {message}")]
    Misuse {
        /// Where in the user's source.
        location: tilewise_ir::Location,
        /// What is wrong and what to write instead.
        message: String,
    },
    /// The kernel's own code panicked on the host while it ran to describe the kernel.
    #[error("kernel `{kernel}` panicked while it was described: {message}")]
    Panicked {
        /// Name of the kernel.
        kernel: String,
        /// The panic's message.
        message: String,
    },
    /// A kernel was launched from inside the body of another.
    #[error("kernel `{inner}` is launched inside the body of kernel `{outer}`: launch it from the host")]
    Nested {
        /// The kernel whose body is running.
        outer: String,
        /// The kernel that was launched in it.
        inner: String,
    },
}

/// A raw handle to a value of the kernel that is being described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) value: Value,
    session: u32,
}

pub(crate) struct Recorder {
    pub(crate) builder: Builder,
    pub(crate) slots: Vec<crate::variable::Slot>,
    pub(crate) pending_name: Option<&'static str>,
    pub(crate) device_depth: u32,
    /// How many branches and loops of the device enclose what is being described: 0 if every thread gets there.
    pub(crate) conditional: u32,
    /// Where threads may have returned first, in one of these.
    pub(crate) ended: Option<&'static Location<'static>>,
    /// Indices whose lanes count up by one, and their first lanes.
    pub(crate) ramps: Vec<(Raw, Raw)>,
    /// The position that operations get now.
    location: Option<&'static Location<'static>>,
    session: u32,
}

static SESSIONS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static RECORDER: RefCell<Option<Box<Recorder>>> = const { RefCell::new(None) };
    /// For the next description on this thread, with the memory of those before.
    static SPARE: RefCell<Option<Box<Recorder>>> = const { RefCell::new(None) };
}

/// Gives back a kernel that was described and is no longer needed: the next description on this thread takes its memory.
///
/// ```
/// let kernel = tilewise_stage::record("nothing", &[], || {})?;
/// tilewise_stage::recycle(kernel);
/// # Ok::<(), tilewise_stage::StageError>(())
/// ```
pub fn recycle(kernel: Box<Kernel>) {
    SPARE.with_borrow_mut(|spare| {
        if let Some(recorder) = spare {
            recorder.builder.recycle(kernel);
        }
    });
}

impl Recorder {
    /// A recorder that starts to describe the kernel `name`.
    fn start(name: &str) -> Box<Recorder> {
        let recorder = SPARE.take();
        let mut recorder = recorder.unwrap_or_else(|| {
            Box::new(Recorder {
                builder: Builder::new(""),
                slots: Vec::new(),
                pending_name: None,
                device_depth: 0,
                conditional: 0,
                ended: None,
                ramps: Vec::new(),
                location: None,
                session: 0,
            })
        });
        recorder.builder.restart(name);
        recorder.slots.clear();
        recorder.pending_name = None;
        recorder.device_depth = 0;
        recorder.conditional = 0;
        recorder.ended = None;
        recorder.ramps.clear();
        recorder.location = None;
        recorder.session = SESSIONS.fetch_add(1, Ordering::Relaxed);
        recorder
    }
}

/// Runs `describe` on this thread and gives the kernel that it described.
///
/// `params` are the kernel's parameters in order.
///
/// ```
/// use tilewise_stage::record;
///
/// let kernel = record("twice", &[], || {
///     let x = tilewise_stage::thread_idx().x;
///     let _ = x + x;
/// })?;
/// assert_eq!(kernel.name, "twice");
/// assert_eq!(kernel.op_count(), 5); // three axes, the sum, the return
/// # Ok::<(), tilewise_stage::StageError>(())
/// ```
///
/// # Errors
///
/// [`StageError`] names the place in the user's source.
pub fn record(
    name: &str,
    params: &[(&str, ParamKind)],
    describe: impl FnOnce(),
) -> Result<Box<Kernel>, StageError> {
    let mut recorder = Recorder::start(name);
    for (name, kind) in params {
        recorder.builder.param(*name, kind.clone());
    }
    RECORDER.with_borrow_mut(|current| match current {
        Some(outer) => {
            Err(StageError::Nested { outer: outer.builder.kernel().name.clone(), inner: name.to_owned() })
        }
        None => {
            *current = Some(recorder);
            Ok(())
        }
    })?;
    let outcome = catch_unwind(AssertUnwindSafe(describe));
    let mut recorder = RECORDER.take().expect("the recorder outlives the description");
    match outcome {
        Ok(()) => {
            let kernel = recorder.builder.take();
            SPARE.set(Some(recorder));
            Ok(kernel)
        }
        Err(payload) => Err(match payload.downcast::<StageError>() {
            Ok(error) => *error,
            Err(payload) => {
                let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
                    (Some(text), _) => (*text).to_owned(),
                    (None, Some(text)) => text.clone(),
                    (None, None) => "no message".to_owned(),
                };
                StageError::Panicked { kernel: name.to_owned(), message }
            }
        }),
    }
}

/// Ends the description with an error at `location`.
pub(crate) fn fail(location: &'static Location<'static>, message: impl Into<String>) -> ! {
    let location = tilewise_ir::Location {
        file: location.file().to_owned(),
        line: location.line(),
        column: location.column(),
    };
    resume_unwind(Box::new(StageError::Misuse { location, message: message.into() }))
}

/// Works with the recorder of this thread; fails if no kernel is being described.
pub(crate) fn with<R>(location: &'static Location<'static>, f: impl FnOnce(&mut Recorder) -> R) -> R {
    let result = RECORDER.with_borrow_mut(|recorder| {
        let recorder = recorder.as_mut()?;
        // Most words of an expression come from one place, and looking it up costs more than recording the word.
        if !recorder.location.is_some_and(|last| std::ptr::eq(last, location)) {
            recorder.location = Some(location);
            recorder.builder.set_location(location.file(), location.line(), location.column());
        }
        Some(f(recorder))
    });
    match result {
        Some(result) => result,
        None => panic!(
            "{location}: a word of the kernel language was used outside a kernel; put the code in a function with #[kernel] or #[device]"
        ),
    }
}

impl Recorder {
    /// The value behind a handle; fails on a handle that was kept from another kernel's description.
    pub(crate) fn value(&self, raw: Raw) -> Option<Value> {
        (raw.session == self.session).then_some(raw.value)
    }

    /// The values behind handles.
    fn values(&self, raws: impl IntoIterator<Item = Raw>) -> Option<SmallVec<[Value; 4]>> {
        let mut values = SmallVec::new();
        for raw in raws {
            values.push(self.value(raw)?);
        }
        Some(values)
    }

    pub(crate) fn raw(&self, value: Value) -> Raw {
        Raw { value, session: self.session }
    }
}

/// What the recorder of this thread gives with the values behind handles; `None` says that it lacks one of them.
fn with_values<R>(location: &'static Location<'static>, f: impl FnOnce(&mut Recorder) -> Option<R>) -> R {
    with(location, f).unwrap_or_else(|| {
        fail(
            location,
            "a value of another kernel's description is used here; values live only while their kernel is described",
        )
    })
}

/// The value behind a handle.
pub(crate) fn value(location: &'static Location<'static>, raw: Raw) -> Value {
    with_values(location, |r| r.value(raw))
}

/// Type of the value behind a handle.
pub(crate) fn ty(location: &'static Location<'static>, raw: Raw) -> Type {
    with_values(location, |r| r.value(raw).map(|value| r.builder.ty(value)))
}

/// Records an operation with one result.
pub(crate) fn emit(
    location: &'static Location<'static>,
    op: Op,
    args: impl IntoIterator<Item = Raw>,
    ty: Type,
) -> Raw {
    with_values(location, |r| {
        let args = r.values(args)?;
        let result = r.builder.emit(op, args, ty);
        Some(r.raw(result))
    })
}

/// Records an operation without a result.
pub(crate) fn emit_void(location: &'static Location<'static>, op: Op, args: impl IntoIterator<Item = Raw>) {
    with_values(location, |r| {
        let args = r.values(args)?;
        r.builder.emit_void(op, args);
        Some(())
    });
}

/// Records a constant.
pub(crate) fn constant(location: &'static Location<'static>, value: Const) -> Raw {
    emit(location, Op::Const(value), [], value.scalar.ty())
}

/// The constant that a handle stands for, if its operation is one.
///
/// Only the innermost blocks' recent operations are looked at; `None` means not known.
pub(crate) fn known(location: &'static Location<'static>, raw: Raw) -> Option<Const> {
    with(location, |r| {
        let value = r.value(raw)?;
        r.builder.current().insts.iter().rev().take(16).find(|i| i.result() == Some(value)).and_then(|i| {
            match i.op {
                Op::Const(c) => Some(c),
                _ => None,
            }
        })
    })
}

/// Leaves a device function; also while a failed description unwinds.
pub(crate) fn leave_call() {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.device_depth = recorder.device_depth.saturating_sub(1);
        }
    });
}

/// The first lane of an index whose lanes count up by one, if it was made as such.
pub(crate) fn ramp(location: &'static Location<'static>, raw: Raw) -> Option<Raw> {
    with(location, |r| r.ramps.iter().rev().find(|(value, _)| *value == raw).map(|&(_, first)| first))
}

/// Gives the name of a variable to what its value allocates: `let shared = stack_allocation(..)`.
pub fn let_name(name: &'static str) {
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.pending_name = Some(name);
        }
    });
}
