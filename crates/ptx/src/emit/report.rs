//! Faults, assertions and lines: calls of the functions that write them to the reports.

use std::sync::Arc;

use tilewise_ir::{Const, Format, Inst, Scalar, Site, SiteKind, Type, Value};

use super::code::{Class, Jump, Line, Operand, Reg};
use super::function::Function;
use super::note::Reports;
use super::{Emitter, asm};
use crate::Arg;
use crate::site::MAX_VALUES;

impl Emitter<'_> {
    /// A new site at the user's position. Where faults are only noted, none is made: the loop that reports them makes it.
    pub(super) fn site(&mut self, kind: SiteKind) -> u32 {
        if let Reports::Noted(_) = self.reports {
            return u32::MAX;
        }
        self.sites.push(Site { span: self.span, kind });
        self.sites.len() as u32 - 1
    }

    /// Reports a fault with at most two values.
    pub(super) fn fault(&mut self, site: u32, values: &[Operand]) {
        debug_assert!(!matches!(self.reports, Reports::Noted(_)), "what is noted is not reported");
        let value = |n: usize| values.get(n).copied().unwrap_or(Operand::u64(0));
        let [reports, launch] = self.report_args();
        let args = [
            ("b64", reports),
            ("b64", launch),
            ("b32", Operand::u32(site)),
            ("b64", value(0)),
            ("b64", value(1)),
        ];
        self.call(Function::Fault, None, &args);
    }

    /// The address of the reports, and the number of the launch.
    fn report_args(&mut self) -> [Operand; 2] {
        [Arg::Reports, Arg::Launch].map(|arg| self.for_reports(arg).into())
    }

    /// The bits of a lane, extended with zeros to 64.
    pub(super) fn report_bits(&mut self, scalar: Scalar, value: Operand) -> Operand {
        if let Some(Const { bits, .. }) = value.constant() {
            return Operand::u64(bits);
        }
        let value = self.in_register(value);
        let (low, wide) = (self.reg(Class::B32), self.reg(Class::B64));
        let low = match value.class {
            Class::B64 => return value.into(),
            Class::F64 => {
                asm!(self, "mov.b64 {wide}, {value}");
                return wide.into();
            }
            Class::Pred => {
                asm!(self, "selp.b32 {low}, 1, 0, {value}");
                low
            }
            Class::B16 => {
                asm!(self, "cvt.u32.u16 {low}, {value}");
                low
            }
            Class::F32 => {
                asm!(self, "mov.b32 {low}, {value}");
                low
            }
            Class::B32 => self.bits_of(scalar, value),
        };
        asm!(self, "cvt.u64.u32 {wide}, {low}");
        wide.into()
    }

    /// The lanes of arguments of a format.
    fn lanes_of(&mut self, args: &[Value], most: usize) -> Vec<Operand> {
        let mut lanes = Vec::new();
        for &arg in args {
            let Type { scalar, lanes: count } = self.ty(arg);
            for lane in 0..count.into() {
                if lanes.len() == most {
                    return lanes;
                }
                let value = self.operand(arg, lane);
                lanes.push(self.report_bits(scalar, value));
            }
        }
        lanes
    }

    fn types_of(&self, args: &[Value]) -> Vec<Type> {
        args.iter().map(|&arg| self.ty(arg)).collect()
    }

    pub(super) fn assert(&mut self, inst: &Inst, format: &Arc<Format>) {
        let args = &inst.args[1..];
        let holds = self.operand_register(inst.args[0], 0);
        let site = self.site(SiteKind::Assertion(format.clone(), self.types_of(args)));
        let cold = self.target();
        self.jump_if(holds, false, cold);
        self.cold(|emitter| {
            emitter.label(cold);
            let values = emitter.lanes_of(args, MAX_VALUES);
            if values.len() <= 2 {
                emitter.fault(site, &values);
            } else {
                emitter.long_fault(site, &values);
            }
            emitter.lines.push(Line::Jump(None, Jump::Return));
        });
    }

    /// Reports a fault with more values, which are written between opening and closing the record.
    fn long_fault(&mut self, site: u32, values: &[Operand]) {
        let [reports, launch] = self.report_args();
        let (record, none, skip) = (self.reg(Class::B64), self.reg(Class::Pred), self.target());
        let args = [("b64", reports), ("b64", launch), ("b32", Operand::u32(site))];
        self.call(Function::OpenFault, Some((record, "b64")), &args);
        asm!(self, "setp.eq.b64 {none}, {record}, 0");
        self.jump_if(none, true, skip);
        self.write_values(record, values);
        self.call(Function::CloseFault, None, &[("b64", reports)]);
        self.label(skip);
    }

    fn write_values(&mut self, at: Reg, values: &[Operand]) {
        for (n, &value) in values.iter().enumerate() {
            let value = self.in_register(value);
            asm!(self, "st.relaxed.gpu.global.b64 [{at}+{}], {value}", 8 * n);
        }
    }

    pub(super) fn print(&mut self, inst: &Inst, format: &Arc<Format>) {
        let site = self.site(SiteKind::Line(format.clone(), self.types_of(&inst.args)));
        let ((), lines) = self.capture(|emitter| {
            let values = emitter.lanes_of(&inst.args, usize::MAX);
            let [reports, launch] = emitter.report_args();
            let (line, none, skip) = (emitter.reg(Class::B64), emitter.reg(Class::Pred), emitter.target());
            let count = Operand::u32(values.len() as u32);
            let args = [("b64", reports), ("b64", launch), ("b32", Operand::u32(site)), ("b32", count)];
            emitter.call(Function::Line, Some((line, "b64")), &args);
            if !values.is_empty() {
                asm!(emitter, "setp.eq.b64 {none}, {line}, 0");
                emitter.jump_if(none, true, skip);
                emitter.write_values(line, &values);
                emitter.label(skip);
            }
        });
        self.lines.extend(lines);
    }

    /// Calls a function of the module. Types are those of the parameters.
    pub(super) fn call(&mut self, function: Function, result: Option<(Reg, &str)>, args: &[(&str, Operand)]) {
        self.functions.insert(function);
        let mut text = String::from("{");
        let mut names = Vec::new();
        for (n, (ty, value)) in args.iter().enumerate() {
            let value = self.in_register(*value);
            let moved = format!(" .param .{ty} arg_{n}; st.param.{ty} [arg_{n}], {value};");
            text.push_str(&moved);
            names.push(format!("arg_{n}"));
        }
        let (name, names) = (function.name(), names.join(", "));
        match result {
            Some((reg, ty)) => {
                let call = format!(
                    " .param .{ty} result; call (result), {name}, ({names}); ld.param.{ty} {reg}, [result]; }}"
                );
                text.push_str(&call);
            }
            None => text.push_str(&format!(" call {name}, ({names}); }}")),
        }
        self.lines.push(Line::Text(text));
    }
}
