//! Reports of faults and lines: see [`site`](crate::site) for how they lie in memory.

use super::cast::Kind;
use super::code::{Code, Expr};
use super::{Emitter, Lanes};
use crate::module::TENSORS_BINDING;
use crate::plan::{Register, bound_tensors};
use crate::site::{ENTRY_WORDS, HEADER_WORDS, MAX_FAULT_VALUES};
use naga::{
    AddressSpace, AtomicFunction, BinaryOperator as Operator, Expression, Function, FunctionArgument,
    GlobalVariable, Handle, MemoryDecorations, Statement, StorageAccess, TypeInner, VectorSize,
};
use std::iter;
use std::sync::Arc;
use tilewise_ir::{Format, Inst, Site, SiteKind, Span, Type, Value};

/// Word of the launch that holds its number.
const LAUNCH_NUMBER: u32 = 6;

/// The most words of an entry that one loop writes: each is chosen by an expression in that of the word before.
const AT_ONCE: usize = 64;

/// The buffer of reports, and the functions that make an entry in it, by what it is and by the words of its values.
///
/// A kernel of 30 lines with 0 to 4 values has five functions, which are 1 kB of WGSL each. One for several numbers of words
/// would make that less, and more of what is compiled: compilers without calls have a copy for each line, which then has
/// room for the most values. The 57 kB of SPIR-V of that kernel with its functions inlined would be 66.
#[derive(Debug)]
pub(super) struct Reports {
    buffer: Handle<GlobalVariable>,
    functions: Vec<((Area, usize), Handle<Function>)>,
}

/// Faults or lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Area {
    Faults,
    Lines,
}

impl<'k> Emitter<'k> {
    /// Reports a fault with values, each a lower and an upper word.
    pub(super) fn fault(&mut self, span: Span, kind: SiteKind, values: &[(Expr, Expr)]) {
        self.entry(Area::Faults, span, kind, values);
    }

    pub(super) fn print(&mut self, inst: &'k Inst, format: &Arc<Format>) {
        let values = self.argument_words(&inst.args, usize::MAX);
        let types = self.types(&inst.args);
        self.entry(Area::Lines, inst.span, SiteKind::Line(format.clone(), types), &values);
    }

    /// A fault if the condition is false, and the thread ends.
    pub(super) fn assert(&mut self, inst: &'k Inst, format: &Arc<Format>) {
        let condition = self.lane(inst.args[0], 0);
        let fails = self.code.not(condition);
        let fails = self.if_live(fails);
        self.code.open();
        let values = self.argument_words(&inst.args[1..], MAX_FAULT_VALUES);
        let types = self.types(&inst.args[1..]);
        self.fault(inst.span, SiteKind::Assertion(format.clone(), types), &values);
        self.end_thread();
        self.code.close_if(fails);
    }

    fn types(&self, args: &[Value]) -> Vec<Type> {
        args.iter().map(|&arg| self.plan.kernel.ty(arg)).collect()
    }

    fn argument_words(&mut self, args: &[Value], most: usize) -> Vec<(Expr, Expr)> {
        let mut words = Vec::new();
        for &arg in args {
            let kind = self.kind(arg);
            let lanes: Lanes = self.values[arg.0 as usize].clone();
            for lane in lanes {
                if words.len() < most {
                    words.push(self.value_words(kind, lane));
                }
            }
        }
        words
    }

    pub(super) fn value_words(&mut self, kind: Kind, x: Expr) -> (Expr, Expr) {
        self.code.words(kind, x)
    }

    fn entry(&mut self, area: Area, span: Span, kind: SiteKind, values: &[(Expr, Expr)]) {
        let words: Vec<Expr> = values.iter().flat_map(|&(low, high)| [low, high]).collect();
        let function = self.report(area, words.len());
        let site = self.sites.len() as u32;
        self.sites.push(Site { span, kind });
        let launch = self.word(LAUNCH_NUMBER);
        let base = self.word(0);
        let vec3 = self.code.ty(TypeInner::Vector { size: VectorSize::Tri, scalar: naga::Scalar::U32 });
        let components = vec![base, self.word(1), self.word(2)];
        let base = self.code.emit(Expression::Compose { ty: vec3, components });
        let block = self.code.binary(Operator::Add, base, self.block);
        let site = self.code.u32(site);
        let mut arguments = vec![site, launch, block, self.thread];
        let zero = self.code.u32(0);
        for words in words.chunks(4) {
            let four = words.iter().copied().chain(iter::repeat(zero)).take(4).collect();
            arguments.push(self.code.vector(Register::U32, VectorSize::Quad, four));
        }
        self.code.push(Statement::Call { function, arguments, result: None });
    }

    /// The function that reports values of so many words.
    fn report(&mut self, area: Area, words: usize) -> Handle<Function> {
        let binding = TENSORS_BINDING + bound_tensors(&self.plan.memories).len() as u32;
        let code = &mut self.code;
        let reports = self.reports.get_or_insert_with(|| Reports::new(code, binding));
        let buffer = reports.buffer;
        if let Some(&(_, function)) = reports.functions.iter().find(|&&(key, _)| key == (area, words)) {
            return function;
        }
        let function = code.nested(|code| make_entry(code, buffer, area, words));
        reports.functions.push(((area, words), function));
        function
    }
}

impl Reports {
    fn new(code: &mut Code, binding: u32) -> Reports {
        let ty = code.array_ty(Register::U32, true, None);
        let access = StorageAccess::LOAD | StorageAccess::STORE;
        let space = AddressSpace::Storage { access };
        let buffer = code.add_global("reports", space, Some(binding), ty, MemoryDecorations::empty());
        Reports { buffer, functions: Vec::new() }
    }
}

/// A function that makes an entry whose values are so many words, if there is room for it.
fn make_entry(code: &mut Code, buffer: Handle<GlobalVariable>, area: Area, values: usize) {
    let word = code.register_ty(Register::U32);
    let [vec3, vec4] = [VectorSize::Tri, VectorSize::Quad]
        .map(|size| code.ty(TypeInner::Vector { size, scalar: naga::Scalar::U32 }));
    let mut argument = |name: String, ty| {
        code.function.arguments.push(FunctionArgument { name: Some(name), ty, binding: None });
        code.constant(Expression::FunctionArgument(code.function.arguments.len() as u32 - 1))
    };
    let [site, launch] = ["site", "launch"].map(|name| argument(name.to_owned(), word));
    let [block, thread] = ["block", "thread"].map(|name| argument(name.to_owned(), vec3));
    // Four at a time: no function may have more than 255 arguments.
    let fours: Vec<Expr> = (0..values.div_ceil(4)).map(|n| argument(format!("words{n}"), vec4)).collect();
    let values: Vec<Expr> = (0..values).map(|n| code.part(fours[n / 4], n as u32 % 4)).collect();
    code.function.name = Some(match area {
        Area::Faults => format!("report_fault_{}", values.len()),
        Area::Lines => format!("report_line_{}", values.len()),
    });

    let reports = code.global(buffer);
    let len = code.u32(ENTRY_WORDS + values.len() as u32);
    let one = code.u32(1);
    let [number, asked, capacity] = match area {
        Area::Faults => [0, 1, 2],
        Area::Lines => [3, 4, 5],
    }
    .map(|word| {
        let word = code.u32(word);
        code.place(reports, word)
    });
    if area == Area::Faults {
        code.atomic_effect(number, AtomicFunction::Add, one);
    }
    // Nobody asks whether there was room for a fault: all are counted.
    let has_room = (area == Area::Lines).then(|| {
        let none = code.bool(false);
        code.variable_of(Register::Bool, Some(none))
    });
    let capacity = code.load(capacity);
    let can_fit = code.binary(Operator::GreaterEqual, capacity, len);
    code.open();
    let last = code.binary(Operator::Subtract, capacity, len);
    // Looking first keeps the number of words from running over.
    let before = code.load(asked);
    let may_fit = code.binary(Operator::LessEqual, before, last);
    code.open();
    let at = code.atomic(asked, AtomicFunction::Add, len, Register::U32);
    let fits = code.binary(Operator::LessEqual, at, last);
    code.open();
    let header = code.u32(HEADER_WORDS);
    let mut start = code.binary(Operator::Add, header, at);
    if area == Area::Lines {
        // Lines lie behind the capacity of the faults.
        let two = code.u32(2);
        let of_faults = code.place(reports, two);
        let of_faults = code.load(of_faults);
        start = code.binary(Operator::Add, start, of_faults);
    }
    let [block, thread] = [block, thread].map(|index| [0, 1, 2].map(|axis| code.part(index, axis)));
    let words: Vec<Expr> = [[len, site, launch], block, thread].into_iter().flatten().chain(values).collect();
    for (n, words) in words.chunks(AT_ONCE).enumerate() {
        if n > 0 {
            let more = code.u32(AT_ONCE as u32);
            start = code.binary(Operator::Add, start, more);
        }
        code.put_words(reports, start, words);
    }
    if let Some(has_room) = has_room {
        let written = code.bool(true);
        code.store(has_room, written);
    }
    code.close_if(fits);
    code.close_if(may_fit);
    code.close_if(can_fit);
    if let Some(has_room) = has_room {
        let has_room = code.load(has_room);
        let is_lost = code.not(has_room);
        code.open();
        code.atomic_effect(number, AtomicFunction::Add, one);
        code.close_if(is_lost);
    }
    code.push(Statement::Return { value: None });
}

impl Code {
    /// Writes words of an entry that follow each other, by one store in a loop.
    ///
    /// A compiler without calls has a copy of this for each place that reports something, and that of Mesa's software adapter
    /// takes time with more than the square of the accesses to buffers. Four kernels with about 25 such places took it 30
    /// seconds with a store for each word, and 4 with one for all.
    fn put_words(&mut self, buffer: Expr, first: Expr, words: &[Expr]) {
        let (&last, others) = words.split_last().expect("an entry has words");
        let count = self.u32(words.len() as u32);
        let end = self.binary(Operator::Add, first, count);
        let index = self.variable(Register::U32);
        self.store(index, first);
        self.open();
        let now = self.load(index);
        let is_done = self.binary(Operator::GreaterEqual, now, end);
        self.open();
        self.push(Statement::Break);
        self.close_if(is_done);
        let word = self.binary(Operator::Subtract, now, first);
        let mut value = last;
        for (n, &other) in others.iter().enumerate() {
            let n = self.u32(n as u32);
            let is_other = self.binary(Operator::Equal, word, n);
            value = self.select(is_other, other, value);
        }
        let place = self.place(buffer, now);
        self.store(place, value);
        let one = self.u32(1);
        let next = self.binary(Operator::Add, now, one);
        self.store(index, next);
        self.close_loop();
    }
}
