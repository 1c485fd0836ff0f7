//! Reports of faults and lines: see [`site`](crate::site) for how they lie in memory.

use super::cast::Kind;
use super::code::{Code, Expr};
use super::{Emitter, Lanes};
use crate::module::TENSORS_BINDING;
use crate::plan::{Register, bound_tensors};
use crate::site::{ENTRY_WORDS, HEADER_WORDS, MAX_FAULT_VALUES};
use naga::{
    AddressSpace, AtomicFunction, BinaryOperator as Operator, Expression, Function, FunctionArgument,
    FunctionResult, GlobalVariable, Handle, MemoryDecorations, Statement, StorageAccess, TypeInner,
    VectorSize,
};
use std::sync::Arc;
use tilewise_ir::{Format, Inst, Site, SiteKind, Span, Type, Value};

/// Word of the launch that holds its number.
const LAUNCH_NUMBER: u32 = 6;

/// The buffer of reports, and the function that makes an entry in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports {
    buffer: Handle<GlobalVariable>,
    begin: Handle<Function>,
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
        let reports = self.reports();
        let site = self.sites.len() as u32;
        self.sites.push(Site { span, kind });
        let launch = self.word(LAUNCH_NUMBER);
        let base = self.word(0);
        let vec3 = self.code.ty(TypeInner::Vector { size: VectorSize::Tri, scalar: naga::Scalar::U32 });
        let components = vec![base, self.word(1), self.word(2)];
        let base = self.code.emit(Expression::Compose { ty: vec3, components });
        let block = self.code.binary(Operator::Add, base, self.block);
        let numbers =
            [area as u32, site, ENTRY_WORDS + 2 * values.len() as u32].map(|number| self.code.u32(number));
        let at = self.code.constant(Expression::CallResult(reports.begin));
        let arguments = numbers.into_iter().chain([launch, block, self.thread]).collect();
        self.code.push(Statement::Call { function: reports.begin, arguments, result: Some(at) });
        if values.is_empty() {
            return;
        }
        let none = self.code.u32(u32::MAX);
        let has_room = self.code.binary(Operator::NotEqual, at, none);
        self.code.open();
        let buffer = self.code.global(reports.buffer);
        for (n, &(low, high)) in values.iter().enumerate() {
            let word = ENTRY_WORDS + 2 * n as u32;
            self.code.put_word(buffer, at, word, low);
            self.code.put_word(buffer, at, word + 1, high);
        }
        self.code.close_if(has_room);
    }

    fn reports(&mut self) -> Reports {
        if let Some(reports) = self.reports {
            return reports;
        }
        let ty = self.code.array_ty(Register::U32, true, None);
        let buffer = self.code.add_global(
            "reports",
            AddressSpace::Storage { access: StorageAccess::LOAD | StorageAccess::STORE },
            Some(TENSORS_BINDING + bound_tensors(&self.plan.memories).len() as u32),
            ty,
            MemoryDecorations::empty(),
        );
        let begin = self.code.nested(|code| begin_entry(code, buffer));
        let reports = Reports { buffer, begin };
        self.reports = Some(reports);
        reports
    }
}

/// A function that makes room for an entry and writes all but its values; gives its first word, or the largest number if
/// there is no room.
fn begin_entry(code: &mut Code, buffer: Handle<GlobalVariable>) {
    let word = code.register_ty(Register::U32);
    let vec3 = code.ty(TypeInner::Vector { size: VectorSize::Tri, scalar: naga::Scalar::U32 });
    let mut argument = |name: &str, ty| {
        code.function.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding: None });
        code.constant(Expression::FunctionArgument(code.function.arguments.len() as u32 - 1))
    };
    let [area, site, len, launch] = ["area", "site", "len", "launch"].map(|name| argument(name, word));
    let [block, thread] = ["block", "thread"].map(|name| argument(name, vec3));
    code.function.name = Some("begin_report".to_owned());
    code.function.result = Some(FunctionResult { ty: word, binding: None });

    let reports = code.global(buffer);
    let [zero, one, three, none] = [0, 1, 3, u32::MAX].map(|number| code.u32(number));
    let is_fault = code.binary(Operator::Equal, area, zero);
    code.open();
    let faults = code.place(reports, zero);
    code.atomic_effect(faults, AtomicFunction::Add, one);
    code.close_if(is_fault);

    let first = code.binary(Operator::Multiply, area, three);
    let asked = code.binary(Operator::Add, first, one);
    let capacity = code.binary(Operator::Add, asked, one);
    let asked = code.place(reports, asked);
    let capacity = code.place(reports, capacity);
    let capacity = code.load(capacity);
    let result = code.variable_of(Register::U32, Some(none));
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
    // Lines lie behind the capacity of the faults.
    let two = code.u32(2);
    let fault_capacity = code.place(reports, two);
    let fault_capacity = code.load(fault_capacity);
    let behind = code.binary(Operator::Multiply, fault_capacity, area);
    let header = code.u32(HEADER_WORDS);
    let start = code.binary(Operator::Add, header, behind);
    let start = code.binary(Operator::Add, start, at);
    code.put_word(reports, start, 0, len);
    code.put_word(reports, start, 1, site);
    code.put_word(reports, start, 2, launch);
    for axis in 0..3 {
        let (block, thread) = (code.part(block, axis), code.part(thread, axis));
        code.put_word(reports, start, 3 + axis, block);
        code.put_word(reports, start, 6 + axis, thread);
    }
    code.store(result, start);
    code.close_if(fits);
    code.close_if(may_fit);
    code.close_if(can_fit);

    let start = code.load(result);
    let lost = code.binary(Operator::Equal, start, none);
    let is_line = code.not(is_fault);
    let lost = code.and(lost, is_line);
    code.open();
    let lines = code.place(reports, three);
    code.atomic_effect(lines, AtomicFunction::Add, one);
    code.close_if(lost);
    code.push(Statement::Return { value: Some(start) });
}

impl Code {
    /// Writes a word of an entry.
    fn put_word(&mut self, buffer: Expr, start: Expr, word: u32, value: Expr) {
        let word = self.u32(word);
        let index = self.binary(Operator::Add, start, word);
        let place = self.place(buffer, index);
        self.store(place, value);
    }
}
