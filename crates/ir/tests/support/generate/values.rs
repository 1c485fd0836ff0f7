//! Values and arithmetic.

use super::super::arithmetic;
use super::Generator;
use tilewise_ir::{
    Axis, BinaryOp, Builtin, CompareOp, Const, Format, FormatSpec, Op, Piece, Scalar, Type, UnaryOp, Value,
    verify,
};

impl Generator {
    pub(super) fn scalar(&mut self) -> Scalar {
        let palette = self.palette.clone();
        if self.random.chance(15) { self.random.pick(&Scalar::ALL) } else { self.random.pick(&palette) }
    }

    pub(super) fn ty(&mut self) -> Type {
        let lanes = self.random.pick(&[1, 1, 1, 1, 1, 1, 2, 4]);
        self.scalar().ty().with_lanes(lanes)
    }

    /// Bits of a value of interest.
    pub(super) fn bits(&mut self, scalar: Scalar) -> u64 {
        let bits = if scalar.is_float() {
            let value = match self.random.below(14) {
                0 => 0.0,
                1 => -0.0,
                2 => 1.0,
                3 => -1.0,
                4 => f64::INFINITY,
                5 => f64::NAN,
                6 => 2f64.powi(self.random.below(12) as i32 - 6),
                7 => return Const::from_bits(scalar, self.random.bits()).bits,
                _ => (self.random.below(2000) as f64 - 1000.0) / 16.0,
            };
            arithmetic::from_f64(scalar, value, 0.0)
        } else {
            match self.random.below(9) {
                0 => 0,
                1 => 1,
                2 => u64::MAX,
                3 => 1 << self.random.below(64),
                4 => u64::MAX >> self.random.below(64),
                5 => self.random.bits(),
                _ => self.random.below(10) as u64,
            }
        };
        Const::from_bits(scalar, bits).bits
    }

    pub(super) fn constant(&mut self, scalar: Scalar) -> Value {
        let bits = self.bits(scalar);
        let value = self.builder.constant(Const { scalar, bits });
        self.visible.push(value);
        value
    }

    pub(super) fn index(&mut self, value: u64) -> Value {
        self.builder.constant(Const::index(value))
    }

    /// Some value of a type: one that there is, or a new one.
    pub(super) fn value(&mut self, ty: Type) -> Value {
        if !self.visible.is_empty() && self.random.chance(80) {
            // Often a late one, so that much is used.
            let count = self.visible.len();
            let back = if self.random.chance(60) { count.min(self.mix.near) } else { count };
            let start = count + self.random.below(back);
            for i in 0..count {
                let value = self.visible[(start - i) % count];
                if self.builder.ty(value) == ty {
                    return value;
                }
            }
        }
        if ty.lanes > 1 {
            return if self.random.chance(50) {
                let lane = self.value(ty.with_lanes(1));
                self.emit(Op::Splat(ty.lanes), [lane], ty)
            } else {
                let lanes: Vec<_> = (0..ty.lanes).map(|_| self.value(ty.with_lanes(1))).collect();
                self.emit(Op::Pack, lanes, ty)
            };
        }
        let scalars: Vec<_> = self.scalars.iter().filter(|s| s.1 == ty.scalar).map(|s| s.0).collect();
        match self.random.below(8) {
            0 | 1 if !scalars.is_empty() => {
                let param = self.random.pick(&scalars);
                self.emit(Op::Scalar(param), [], ty)
            }
            2 if ty == Type::INDEX => {
                let builtin = self.random.pick(&[
                    Builtin::ThreadIdx,
                    Builtin::BlockIdx,
                    Builtin::BlockDim,
                    Builtin::GridDim,
                ]);
                let axis = self.random.pick(&[Axis::X, Axis::Y, Axis::Z]);
                self.emit(Op::Builtin(builtin, axis), [], ty)
            }
            3 if !self.visible.is_empty() => {
                let start = self.random.below(self.visible.len());
                let from = (0..self.visible.len())
                    .map(|i| self.visible[(start + i) % self.visible.len()])
                    .find(|&v| self.builder.ty(v).lanes == 1);
                match from {
                    Some(from) => self.emit(Op::Cast(ty.scalar), [from], ty),
                    None => self.constant(ty.scalar),
                }
            }
            4 if ty == Type::BOOL => self.comparison(),
            _ => self.constant(ty.scalar),
        }
    }

    pub(super) fn comparison(&mut self) -> Value {
        let ty = self.scalar().ty();
        let args = [self.value(ty), self.value(ty)];
        let op = self.random.pick(CompareOp::ALL);
        self.emit(Op::Compare(op), args, Type::BOOL)
    }

    pub(super) fn locate(&mut self) {
        self.line += 1;
        self.builder.set_location("random", self.line, 1);
    }

    pub(super) fn emit(&mut self, op: Op, args: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        self.locate();
        let value = self.builder.emit(op, args, ty);
        self.visible.push(value);
        if self.mix.print && self.random.chance(60) {
            let format = Format { pieces: vec![Piece::Arg(FormatSpec::default())] };
            self.builder.emit_void(Op::Print(format.into()), [value]);
        }
        value
    }

    pub(super) fn effect(&mut self, op: Op, args: impl IntoIterator<Item = Value>) {
        self.locate();
        self.builder.emit_void(op, args);
    }

    /// The latest operation once more, on its result.
    pub(super) fn repeat(&mut self) -> bool {
        let Some(&value) = self.visible.last() else { return false };
        let ty = self.builder.ty(value);
        match self.again.clone() {
            Some(Op::Unary(UnaryOp::Not)) if ty.scalar == Scalar::Bool && self.random.chance(50) => {
                let ty = self.scalar().ty().with_lanes(ty.lanes);
                let args = [value, self.value(ty), self.value(ty)];
                self.emit(Op::Select, args, ty);
            }
            Some(Op::Unary(op)) if verify::unary_exists(op, ty.scalar) => {
                let is_test = matches!(op, UnaryOp::IsNan | UnaryOp::IsInf);
                self.emit(Op::Unary(op), [value], if is_test { ty.with_scalar(Scalar::Bool) } else { ty });
            }
            Some(Op::Binary(op)) if verify::binary_exists(op, ty.scalar) => {
                let near = match op {
                    BinaryOp::Add => BinaryOp::Sub,
                    BinaryOp::Sub => BinaryOp::Add,
                    BinaryOp::Shl => BinaryOp::Mul,
                    op => op,
                };
                let op = if self.random.chance(30) { near } else { op };
                let constant = self.constant(ty.scalar);
                let constant =
                    if ty.lanes > 1 { self.emit(Op::Splat(ty.lanes), [constant], ty) } else { constant };
                self.emit(Op::Binary(op), [value, constant], ty);
            }
            Some(Op::Cast(_)) => {
                let floats = [Scalar::F16, Scalar::BF16, Scalar::F32, Scalar::F64];
                let among_floats = ty.scalar.is_float() && self.random.chance(70);
                let to = self.random.pick(if among_floats { &floats[..] } else { &Scalar::ALL });
                self.emit(Op::Cast(to), [value], ty.with_scalar(to));
            }
            Some(Op::Compare(_)) if ty.scalar == Scalar::Bool => {
                if self.random.chance(30) {
                    self.emit(Op::Unary(UnaryOp::Not), [value], ty);
                    return true;
                }
                // Selects one of what has been compared.
                let Some(mut args) = self.compared.take() else { return false };
                if self.random.chance(50) {
                    args.swap(0, 1);
                }
                let lanes = ty.lanes;
                let ty = self.builder.ty(args[0]);
                if lanes != ty.lanes || !args.iter().all(|arg| self.visible.contains(arg)) {
                    return false;
                }
                self.emit(Op::Select, [value, args[0], args[1]], ty);
            }
            _ => return false,
        }
        true
    }

    pub(super) fn arithmetic(&mut self) {
        if self.random.chance(30) && self.repeat() {
            return;
        }
        let ty = self.ty();
        let scalar = ty.scalar;
        match self.random.below(16) {
            0 | 1 => {
                let ops: Vec<_> =
                    UnaryOp::ALL.iter().copied().filter(|&op| verify::unary_exists(op, scalar)).collect();
                if !ops.is_empty() {
                    let op = self.random.pick(&ops);
                    let is_test = matches!(op, UnaryOp::IsNan | UnaryOp::IsInf);
                    let result = if is_test { ty.with_scalar(Scalar::Bool) } else { ty };
                    let arg = self.value(ty);
                    self.emit(Op::Unary(op), [arg], result);
                    self.again = Some(Op::Unary(op));
                }
            }
            2..7 => {
                let ops: Vec<_> =
                    BinaryOp::ALL.iter().copied().filter(|&op| verify::binary_exists(op, scalar)).collect();
                let op = self.random.pick(&ops);
                let a = self.value(ty);
                let b = if self.random.chance(40) {
                    let lane = self.constant(scalar);
                    if ty.lanes > 1 { self.emit(Op::Splat(ty.lanes), [lane], ty) } else { lane }
                } else {
                    self.value(ty)
                };
                let args = if self.random.chance(20) { [b, a] } else { [a, b] };
                let value = self.emit(Op::Binary(op), args, ty);
                self.again = Some(Op::Binary(op));
                if self.random.chance(20) {
                    self.keep(value);
                }
            }
            7 => {
                let op = self.random.pick(CompareOp::ALL);
                let args = [self.value(ty), self.value(ty)];
                self.emit(Op::Compare(op), args, ty.with_scalar(Scalar::Bool));
                self.again = Some(Op::Compare(op));
                self.compared = Some(args);
            }
            8 => {
                let lanes = if self.random.chance(50) { 1 } else { ty.lanes };
                let condition = self.value(Type::BOOL.with_lanes(lanes));
                let args = [condition, self.value(ty), self.value(ty)];
                self.emit(Op::Select, args, ty);
            }
            9 => {
                let to = self.scalar();
                let arg = self.value(ty);
                self.emit(Op::Cast(to), [arg], ty.with_scalar(to));
                self.again = Some(Op::Cast(to));
            }
            10 => {
                let to = self.scalar();
                if verify::bitcast_exists(scalar, to) {
                    let mut arg = self.value(ty);
                    if scalar.is_float() {
                        // Which NaN it is, is open.
                        let nan = self.emit(Op::Unary(UnaryOp::IsNan), [arg], ty.with_scalar(Scalar::Bool));
                        let zero = self.builder.constant(Const::from_bits(scalar, 0));
                        let zero = self.emit(Op::Splat(ty.lanes), [zero], ty);
                        arg = self.emit(Op::Select, [nan, zero, arg], ty);
                    }
                    self.emit(Op::Bitcast(to), [arg], ty.with_scalar(to));
                }
            }
            11 => {
                let vector = ty.with_lanes(self.random.pick(&[2, 4]));
                let arg = self.value(vector);
                let lane = self.random.below(vector.lanes.into()) as u8;
                self.emit(Op::Extract(lane), [arg], ty.with_lanes(1));
            }
            12 if scalar.is_float() && self.random.chance(40) => {
                // What tells apart zeros of unlike sign.
                let special = |g: &mut Generator| {
                    let value = g.random.pick(&[0.0, -0.0, 0.0, -0.0, 1.0, -1.0]);
                    let bits = arithmetic::from_f64(scalar, value, 0.0);
                    g.builder.constant(Const { scalar, bits })
                };
                let ty = scalar.ty();
                let args = [Type::BOOL, ty].map(|ty| self.value(ty));
                let mut x = special(self);
                for _ in 0..2 {
                    let other = special(self);
                    let condition = self.comparison();
                    x = self.emit(Op::Select, [condition, x, other], ty);
                }
                x = self.emit(Op::Select, [args[0], x, args[1]], ty);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div]);
                let y = special(self);
                let result = self.emit(Op::Binary(op), [x, y], ty);
                self.keep(result);
            }
            _ if scalar.is_float() => {
                let mut args = [self.value(ty), self.value(ty), self.value(ty)];
                if self.random.chance(60) {
                    let product = self.emit(Op::Binary(BinaryOp::Mul), [args[0], args[1]], ty);
                    let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                    let sum = if self.random.chance(50) { [product, args[2]] } else { [args[2], product] };
                    self.emit(Op::Binary(op), sum, ty);
                    return;
                }
                for arg in &mut args {
                    if self.random.chance(30) {
                        let value = self.random.pick(&[1.0, -1.0, 0.0, -0.0]);
                        let bits = arithmetic::from_f64(scalar, value, 0.0);
                        *arg = self.builder.constant(Const { scalar, bits });
                        if ty.lanes > 1 {
                            *arg = self.emit(Op::Splat(ty.lanes), [*arg], ty);
                        }
                    }
                }
                self.emit(Op::MulAdd, args, ty);
            }
            _ if ty.lanes > 1 => {
                // What was extracted is packed, in order or not.
                let vector = self.value(ty);
                let last = self.random.pick(&[ty.lanes - 1, ty.lanes - 1, 0]);
                let lanes: Vec<_> = (0..ty.lanes - 1)
                    .chain([last])
                    .map(|lane| self.emit(Op::Extract(lane), [vector], ty.with_lanes(1)))
                    .collect();
                self.emit(Op::Pack, lanes, ty);
            }
            _ => {
                let value = self.value(ty);
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Mul, BinaryOp::Xor]);
                if verify::binary_exists(op, scalar) {
                    self.emit(Op::Binary(op), [value, value], ty);
                }
            }
        }
    }
}
