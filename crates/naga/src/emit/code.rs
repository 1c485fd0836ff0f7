//! Building naga functions: expressions, statements, variables. Knows naga, and nothing of the kernel.

use crate::plan::Register;
use naga::{
    AddressSpace, ArraySize, AtomicFunction, BinaryOperator, Binding, Block, BuiltIn, Expression, Function,
    FunctionArgument, Handle, Literal, LocalVariable, MathFunction, Module, Range, ScalarKind, Statement,
    Type, TypeInner, UnaryOperator, VectorSize,
};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;

/// An expression of the function that is being built.
pub(super) type Expr = Handle<Expression>;

/// A module and the function in it that is being built.
pub(super) struct Code {
    pub(super) module: Module,
    pub(super) function: Function,
    /// The blocks around the place where statements go, outermost first.
    blocks: Vec<Block>,
    /// What comes before all else in the function.
    start: Block,
    literals: FxHashMap<(Register, u64), Expr>,
    globals: FxHashMap<Handle<naga::GlobalVariable>, Expr>,
    /// [`Capabilities::extends_by_halves`](crate::Capabilities::extends_by_halves).
    pub(super) extends_by_halves: bool,
}

impl Code {
    pub(super) fn new() -> Code {
        Code {
            module: Module::default(),
            function: Function::default(),
            blocks: vec![Block::new()],
            start: Block::new(),
            literals: FxHashMap::default(),
            globals: FxHashMap::default(),
            extends_by_halves: false,
        }
    }

    /// Another function of the module, by itself; what was being built goes on afterwards.
    pub(super) fn nested(&mut self, build: impl FnOnce(&mut Code)) -> Handle<Function> {
        let module = std::mem::take(&mut self.module);
        let mut inner = Code { module, extends_by_halves: self.extends_by_halves, ..Code::new() };
        build(&mut inner);
        let (mut module, function) = inner.finish();
        let handle = module.functions.append(function, naga::Span::UNDEFINED);
        self.module = module;
        handle
    }

    pub(super) fn finish(mut self) -> (Module, Function) {
        let mut body = self.blocks.pop().unwrap_or_default();
        self.start.append(&mut body);
        self.function.body = self.start;
        (self.module, self.function)
    }

    /// Builds at the start of the function, from what is there before all else.
    pub(super) fn at_start<T>(&mut self, build: impl FnOnce(&mut Code) -> T) -> T {
        self.blocks.push(std::mem::take(&mut self.start));
        let built = build(self);
        self.start = self.close();
        built
    }

    // ---- types ----

    pub(super) fn ty(&mut self, inner: TypeInner) -> Handle<Type> {
        self.module.types.insert(Type { name: None, inner }, naga::Span::UNDEFINED)
    }

    pub(super) fn register_ty(&mut self, register: Register) -> Handle<Type> {
        self.ty(TypeInner::Scalar(scalar(register)))
    }

    /// An array of so many places; `None` for as many as there are in a buffer.
    pub(super) fn array_ty(
        &mut self,
        place: Register,
        atomic: bool,
        len: Option<NonZeroU32>,
    ) -> Handle<Type> {
        let scalar = scalar(place);
        let base = self.ty(if atomic { TypeInner::Atomic(scalar) } else { TypeInner::Scalar(scalar) });
        let size = len.map_or(ArraySize::Dynamic, ArraySize::Constant);
        self.ty(TypeInner::Array { base, size, stride: scalar.width.into() })
    }

    /// An array of so many vectors, likewise.
    pub(super) fn vectors_ty(
        &mut self,
        place: Register,
        size: VectorSize,
        len: Option<NonZeroU32>,
    ) -> Handle<Type> {
        let scalar = scalar(place);
        let base = self.ty(TypeInner::Vector { size, scalar });
        let stride = u32::from(scalar.width) * u32::from(size as u8);
        let size = len.map_or(ArraySize::Dynamic, ArraySize::Constant);
        self.ty(TypeInner::Array { base, size, stride })
    }

    // ---- expressions ----

    /// An expression that is there before the function starts.
    pub(super) fn constant(&mut self, expression: Expression) -> Expr {
        self.function.expressions.append(expression, naga::Span::UNDEFINED)
    }

    /// An expression that is computed here.
    pub(super) fn emit(&mut self, expression: Expression) -> Expr {
        let handle = self.constant(expression);
        let range = Range::new_from_bounds(handle, handle);
        self.push(Statement::Emit(range));
        handle
    }

    fn literal(&mut self, register: Register, bits: u64, literal: Literal) -> Expr {
        if let Some(&expr) = self.literals.get(&(register, bits)) {
            return expr;
        }
        let expr = self.constant(Expression::Literal(literal));
        self.literals.insert((register, bits), expr);
        expr
    }

    pub(super) fn bool(&mut self, value: bool) -> Expr {
        self.literal(Register::Bool, value.into(), Literal::Bool(value))
    }

    pub(super) fn u32(&mut self, value: u32) -> Expr {
        self.literal(Register::U32, value.into(), Literal::U32(value))
    }

    /// The number that an expression is, if it is a literal in a register of this type alone.
    pub(super) fn literal_u32(&self, expr: Expr) -> Option<u32> {
        match self.function.expressions[expr] {
            Expression::Literal(Literal::U32(value)) => Some(value),
            _ => None,
        }
    }

    /// The integer that an expression is, if it is a literal.
    pub(super) fn literal_integer(&self, expr: Expr) -> Option<i128> {
        match self.function.expressions[expr] {
            Expression::Literal(Literal::U32(value)) => Some(value.into()),
            Expression::Literal(Literal::I32(value)) => Some(value.into()),
            Expression::Literal(Literal::U64(value)) => Some(value.into()),
            Expression::Literal(Literal::I64(value)) => Some(value.into()),
            _ => None,
        }
    }

    /// A number that no compiler of a shader language takes for a constant.
    pub(super) fn opaque_u32(&mut self, value: u32) -> Expr {
        let value = self.u32(value);
        let variable = self.variable_of(Register::U32, Some(value));
        self.load(variable)
    }

    pub(super) fn i32(&mut self, value: i32) -> Expr {
        self.literal(Register::I32, u64::from(value as u32), Literal::I32(value))
    }

    pub(super) fn f32(&mut self, value: f32) -> Expr {
        self.number(Register::F32, value.to_bits().into())
    }

    /// The number with these bits.
    pub(super) fn number(&mut self, register: Register, bits: u64) -> Expr {
        let literal = match register {
            Register::Bool => Literal::Bool(bits != 0),
            Register::I32 => Literal::I32(bits as i32),
            Register::U32 => Literal::U32(bits as u32),
            Register::I64 => Literal::I64(bits as i64),
            Register::U64 => Literal::U64(bits),
            Register::F16 => Literal::F16(half::f16::from_bits(bits as u16)),
            Register::F32 => Literal::F32(f32::from_bits(bits as u32)),
            Register::F64 => Literal::F64(f64::from_bits(bits)),
        };
        let finite = match literal {
            Literal::F16(value) => value.is_finite(),
            Literal::F32(value) => value.is_finite(),
            Literal::F64(value) => value.is_finite(),
            _ => true,
        };
        if finite { self.literal(register, bits, literal) } else { self.not_finite(register, bits) }
    }

    /// An infinity or NaN. No literal may be one, nor a constant expression; so its sign and kind come from a variable.
    fn not_finite(&mut self, register: Register, bits: u64) -> Expr {
        let (infinite, negative) = match register {
            Register::F16 => (bits & 0x7fff == 0x7c00, bits >> 15 & 1 == 1),
            Register::F64 => (bits << 1 == 0x7ff << 53, bits >> 63 == 1),
            _ => (bits & 0x7fff_ffff == 0x7f80_0000, bits >> 31 & 1 == 1),
        };
        let f32_bits = match (register, infinite) {
            (Register::F32, _) => bits as u32,
            (_, true) => 0x7f80_0000 | u32::from(negative) << 31,
            (_, false) => 0x7fc0_0000,
        };
        let word = self.opaque_u32(f32_bits);
        let value = self.bitcast(word, Register::F32);
        self.convert(value, register)
    }

    pub(super) fn zero(&mut self, register: Register) -> Expr {
        self.number(register, 0)
    }

    pub(super) fn binary(&mut self, op: BinaryOperator, left: Expr, right: Expr) -> Expr {
        self.emit(Expression::Binary { op, left, right })
    }

    pub(super) fn unary(&mut self, op: UnaryOperator, expr: Expr) -> Expr {
        self.emit(Expression::Unary { op, expr })
    }

    pub(super) fn not(&mut self, condition: Expr) -> Expr {
        self.unary(UnaryOperator::LogicalNot, condition)
    }

    pub(super) fn and(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(BinaryOperator::LogicalAnd, a, b)
    }

    pub(super) fn or(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(BinaryOperator::LogicalOr, a, b)
    }

    pub(super) fn select(&mut self, condition: Expr, accept: Expr, reject: Expr) -> Expr {
        self.emit(Expression::Select { condition, accept, reject })
    }

    pub(super) fn math(&mut self, fun: MathFunction, args: &[Expr]) -> Expr {
        let arg = |n: usize| args.get(n).copied();
        self.emit(Expression::Math { fun, arg: args[0], arg1: arg(1), arg2: arg(2), arg3: arg(3) })
    }

    /// The number of another type nearest to a number.
    pub(super) fn convert(&mut self, expr: Expr, to: Register) -> Expr {
        if let (Some(value), Register::U64) = (self.literal_u32(expr), to) {
            return self.number(to, value.into());
        }
        let scalar = scalar(to);
        self.emit(Expression::As { expr, kind: scalar.kind, convert: Some(scalar.width) })
    }

    /// The bits as another type of the same size.
    pub(super) fn bitcast(&mut self, expr: Expr, to: Register) -> Expr {
        self.emit(Expression::As { expr, kind: scalar(to).kind, convert: None })
    }

    /// Member or lane.
    pub(super) fn part(&mut self, base: Expr, index: u32) -> Expr {
        self.emit(Expression::AccessIndex { base, index })
    }

    /// A vector of these components.
    pub(super) fn vector(&mut self, register: Register, size: VectorSize, components: Vec<Expr>) -> Expr {
        let ty = self.ty(TypeInner::Vector { size, scalar: scalar(register) });
        self.emit(Expression::Compose { ty, components })
    }

    /// Pointer to a place of an array, or to a component of a vector.
    pub(super) fn place(&mut self, base: Expr, index: Expr) -> Expr {
        self.emit(Expression::Access { base, index })
    }

    pub(super) fn global(&mut self, global: Handle<naga::GlobalVariable>) -> Expr {
        if let Some(&expr) = self.globals.get(&global) {
            return expr;
        }
        let expr = self.constant(Expression::GlobalVariable(global));
        self.globals.insert(global, expr);
        expr
    }

    /// A new argument of the function, which the device gives each thread.
    pub(super) fn argument(&mut self, name: &str, ty: Handle<Type>, builtin: BuiltIn) -> Expr {
        let binding = Some(Binding::BuiltIn(builtin));
        self.function.arguments.push(FunctionArgument { name: Some(name.to_owned()), ty, binding });
        let number = self.function.arguments.len() as u32 - 1;
        self.constant(Expression::FunctionArgument(number))
    }

    // ---- variables ----

    /// Pointer to a new variable of the function.
    pub(super) fn variable(&mut self, register: Register) -> Expr {
        self.variable_of(register, None)
    }

    pub(super) fn variable_of(&mut self, register: Register, init: Option<Expr>) -> Expr {
        let ty = self.register_ty(register);
        self.variable_ty(ty, None, init)
    }

    pub(super) fn variable_ty(&mut self, ty: Handle<Type>, name: Option<String>, init: Option<Expr>) -> Expr {
        let variable = LocalVariable { name, ty, init };
        let variable = self.function.local_variables.append(variable, naga::Span::UNDEFINED);
        self.constant(Expression::LocalVariable(variable))
    }

    pub(super) fn load(&mut self, pointer: Expr) -> Expr {
        self.emit(Expression::Load { pointer })
    }

    pub(super) fn store(&mut self, pointer: Expr, value: Expr) {
        self.push(Statement::Store { pointer, value });
    }

    // ---- statements ----

    pub(super) fn push(&mut self, statement: Statement) {
        let block = self.blocks.last_mut().expect("a function has a block");
        block.push(statement, naga::Span::UNDEFINED);
    }

    /// Statements go to a new block from here on.
    pub(super) fn open(&mut self) {
        self.blocks.push(Block::new());
    }

    /// The block that was opened last.
    pub(super) fn close(&mut self) -> Block {
        self.blocks.pop().expect("a block was opened")
    }

    /// `if`, whose first block is the one that was opened last.
    pub(super) fn close_if(&mut self, condition: Expr) {
        let accept = self.close();
        self.push_if(condition, accept, Block::new());
    }

    pub(super) fn push_if(&mut self, condition: Expr, accept: Block, reject: Block) {
        self.push(Statement::If { condition, accept, reject });
    }

    /// A loop that ends by `Break`, whose body is the block that was opened last.
    pub(super) fn close_loop(&mut self) {
        let body = self.close();
        self.push(Statement::Loop { body, continuing: Block::new(), break_if: None });
    }

    // ---- atomics ----

    /// An atomic operation; gives the value before.
    pub(super) fn atomic(
        &mut self,
        pointer: Expr,
        fun: AtomicFunction,
        value: Expr,
        place: Register,
    ) -> Expr {
        let ty = self.register_ty(place);
        let result = self.constant(Expression::AtomicResult { ty, comparison: false });
        self.push(Statement::Atomic { pointer, fun, value, result: Some(result) });
        result
    }

    /// An atomic operation whose result nobody uses.
    pub(super) fn atomic_effect(&mut self, pointer: Expr, fun: AtomicFunction, value: Expr) {
        self.push(Statement::Atomic { pointer, fun, value, result: None });
    }

    /// Compare and exchange, which may fail although the values are equal; gives the value before, and whether it was
    /// exchanged.
    pub(super) fn exchange(
        &mut self,
        pointer: Expr,
        expected: Expr,
        value: Expr,
        place: Register,
    ) -> (Expr, Expr) {
        let result = naga::PredeclaredType::AtomicCompareExchangeWeakResult(scalar(place));
        let ty = self.module.generate_predeclared_type(result);
        let result = self.constant(Expression::AtomicResult { ty, comparison: true });
        let fun = AtomicFunction::Exchange { compare: Some(expected) };
        self.push(Statement::Atomic { pointer, fun, value, result: Some(result) });
        (self.part(result, 0), self.part(result, 1))
    }

    /// A global variable.
    pub(super) fn add_global(
        &mut self,
        name: &str,
        space: AddressSpace,
        binding: Option<u32>,
        ty: Handle<Type>,
        decorations: naga::MemoryDecorations,
    ) -> Handle<naga::GlobalVariable> {
        let variable = naga::GlobalVariable {
            name: Some(name.to_owned()),
            space,
            binding: binding.map(|binding| naga::ResourceBinding { group: 0, binding }),
            ty,
            init: None,
            memory_decorations: decorations,
        };
        self.module.global_variables.append(variable, naga::Span::UNDEFINED)
    }
}

/// The scalar of naga that a register is.
pub(super) fn scalar(register: Register) -> naga::Scalar {
    let (kind, width) = match register {
        Register::Bool => (ScalarKind::Bool, naga::BOOL_WIDTH),
        Register::I32 => (ScalarKind::Sint, 4),
        Register::U32 => (ScalarKind::Uint, 4),
        Register::I64 => (ScalarKind::Sint, 8),
        Register::U64 => (ScalarKind::Uint, 8),
        Register::F16 => (ScalarKind::Float, 2),
        Register::F32 => (ScalarKind::Float, 4),
        Register::F64 => (ScalarKind::Float, 8),
    };
    naga::Scalar { kind, width }
}
