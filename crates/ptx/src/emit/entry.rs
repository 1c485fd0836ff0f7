//! The text of a module: header, functions, and the entry with its declarations.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};
use tilewise_ir::{AllocId, Kernel, MemRef, Space};

use super::Emitter;
use super::code::{Class, Jump, Line, Target as Place};
use super::function::Function;
use crate::{Module, Target, Unsupported};

/// Bytes of shared memory that a module can declare; more has to be asked for at the launch.
const STATIC_SHARED_BYTES: u64 = 48 << 10;

/// Bytes of local memory that a thread can have.
const LOCAL_BYTES: u64 = 512 << 10;

/// The variable for shared memory that the launch asks for.
const DYNAMIC: &str = "tilewise_shared";

/// Its declaration, which stands before the entry.
const DYNAMIC_DECLARATION: &str = ".extern .shared .align 16 .b8 tilewise_shared[];\n";

/// Where the variables of a kernel are. Those that nobody accesses are nowhere.
pub(super) struct Memory {
    variables: Vec<(AllocId, Space, u64)>,
    /// Where each variable starts in its symbol.
    starts: FxHashMap<AllocId, (u64, u64)>,
    shared_bytes: u64,
    dynamic: bool,
}

impl Memory {
    pub(super) fn new(kernel: &Kernel, target: Target) -> Result<Memory, Unsupported> {
        let mut used = BTreeSet::new();
        kernel.body.visit(&mut |inst| {
            if let Some(MemRef::Alloc(alloc)) = inst.op.access().map(|access| access.mem) {
                used.insert(alloc);
            }
        });
        let mut memory =
            Memory { variables: vec![], starts: FxHashMap::default(), shared_bytes: 0, dynamic: false };
        let mut local_bytes = 0u64;
        for id in used {
            let alloc = &kernel.allocs[id.0 as usize];
            let bytes = alloc.len.saturating_mul(alloc.elem.size() as u64);
            memory.variables.push((id, alloc.space, bytes));
            let (start, total, most, word) = match alloc.space {
                Space::Shared => {
                    (memory.shared_bytes, &mut memory.shared_bytes, target.max_shared_bytes(), "shared")
                }
                Space::Local => (0, &mut local_bytes, LOCAL_BYTES, "local"),
            };
            memory.starts.insert(id, (start, bytes));
            let end = total.saturating_add(bytes);
            if end > most {
                return Err(Unsupported {
                    kernel: kernel.name.clone(),
                    what: format!(
                        "{end} bytes of {word} memory, of which `{}` has {bytes}; there are {most}, so it",
                        alloc.name
                    ),
                    target,
                    location: kernel.spans.get(alloc.span),
                });
            }
            *total = end.next_multiple_of(16);
        }
        memory.dynamic = memory.shared_bytes > STATIC_SHARED_BYTES;
        Ok(memory)
    }

    /// The symbol of a variable, where it starts in it, and how many bytes it has.
    pub(super) fn place(&self, alloc: AllocId) -> (String, u64, u64) {
        let (start, bytes) = self.starts.get(&alloc).copied().unwrap_or_default();
        match self.variables.iter().find(|&&(id, ..)| id == alloc) {
            Some((_, Space::Shared, _)) if self.dynamic => (DYNAMIC.to_owned(), start, bytes),
            Some((_, space, _)) => (symbol(alloc, *space), 0, bytes),
            None => (symbol(alloc, Space::Shared), 0, bytes),
        }
    }

    fn declarations(&self) -> Vec<String> {
        let declare = |&(alloc, space, bytes): &(AllocId, Space, u64)| {
            let word = match space {
                Space::Shared if self.dynamic => return None,
                Space::Shared => "shared",
                Space::Local => "local",
            };
            Some(format!(".{word} .align 16 .b8 {}[{}];", symbol(alloc, space), bytes.max(1)))
        };
        self.variables.iter().filter_map(declare).collect()
    }
}

fn symbol(alloc: AllocId, space: Space) -> String {
    match space {
        Space::Shared => format!("shared_{}", alloc.0),
        Space::Local => format!("local_{}", alloc.0),
    }
}

impl Emitter<'_> {
    /// The module, when all lines are there.
    pub(super) fn finish(mut self) -> Module {
        let entry = entry_name(&self.kernel.name);
        let mut text = header(self.target);
        for function in &self.functions {
            text.push_str(function.text());
        }
        if self.memory.dynamic {
            text.push_str(DYNAMIC_DECLARATION);
        }
        let mut lines = self.take_prologue();
        lines.append(&mut self.lines);
        lines.append(&mut self.cold_lines);
        let lines = tidied(lines);

        let parameters: Vec<_> =
            self.parameters().iter().map(|parameter| format!("\n\t{parameter}")).collect();
        let _ = writeln!(text, ".visible .entry {entry}({}", parameters.join(",") + ")");
        let _ = match self.facts.block {
            Some([x, y, z]) => writeln!(text, ".reqntid {x}, {y}, {z}"),
            None => writeln!(text, ".maxntid 1024, 1, 1"),
        };
        text.push_str("{\n");
        for class in Class::ALL {
            if let Some(count) = self.registers.get(&class) {
                let _ = writeln!(text, "\t.reg .{} {}<{}>;", class.ty(), class.prefix(), count + 1);
            }
        }
        for declaration in self.memory.declarations() {
            let _ = writeln!(text, "\t{declaration}");
        }
        for line in &lines {
            let _ = match line {
                Line::Label(place) => writeln!(text, "{place}:"),
                Line::Text(instruction) => writeln!(text, "\t{instruction}"),
                Line::Jump(guard, jump) => {
                    let guard = guard.map_or(String::new(), |guard| {
                        format!("@{}{} ", if guard.when { "" } else { "!" }, guard.pred)
                    });
                    match jump {
                        Jump::To(place) => writeln!(text, "\t{guard}bra {place};"),
                        Jump::Return => writeln!(text, "\t{guard}ret;"),
                    }
                }
                Line::Position(span) => match self.kernel.spans.get(*span) {
                    Some(at) => writeln!(text, "\t// {}:{}", at.file.replace(['\n', '\r'], " "), at.line),
                    None => Ok(()),
                },
            };
        }
        text.push_str("}\n");

        let (static_shared_bytes, dynamic_shared_bytes) =
            if self.memory.dynamic { (0, self.memory.shared_bytes) } else { (self.memory.shared_bytes, 0) };
        Module { text, entry, args: self.args, static_shared_bytes, dynamic_shared_bytes, sites: self.sites }
    }
}

fn header(target: Target) -> String {
    let Target { capability, ptx: (major, minor) } = target;
    format!(".version {major}.{minor}\n.target sm_{capability}\n.address_size 64\n")
}

/// A legal identifier for a kernel. The suffix keeps it apart from the words of PTX, such as `add`.
fn entry_name(kernel: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let name: String = kernel.chars().map(legal).collect();
    let prefix = if name.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "kernel" };
    format!("{prefix}{name}$")
}

/// Without what changes nothing: code that is not reached, jumps to what follows, labels and positions of nothing.
fn tidied(lines: Vec<Line>) -> Vec<Line> {
    let mut reached = Vec::with_capacity(lines.len());
    let mut ended = false;
    for line in lines {
        match line {
            Line::Label(_) => ended = false,
            Line::Jump(None, _) if !ended => {
                reached.push(line);
                ended = true;
                continue;
            }
            _ => {}
        }
        if !ended {
            reached.push(line);
        }
    }
    let mut kept: Vec<Line> = Vec::with_capacity(reached.len());
    for (n, line) in reached.iter().enumerate() {
        let next_labels =
            reached[n + 1..].iter().take_while(|line| matches!(line, Line::Label(_) | Line::Position(_)));
        if let Line::Jump(_, Jump::To(to)) = line
            && next_labels.into_iter().any(|next| *next == Line::Label(*to))
        {
            continue;
        }
        kept.push(line.clone());
    }
    let used: FxHashSet<Place> = kept
        .iter()
        .filter_map(|line| match line {
            Line::Jump(_, Jump::To(place)) => Some(*place),
            _ => None,
        })
        .collect();
    kept.retain(|line| !matches!(line, Line::Label(place) if !used.contains(place)));
    let mut last = None;
    let mut tidy = Vec::with_capacity(kept.len());
    for (n, line) in kept.iter().enumerate() {
        if let Line::Position(span) = line {
            let followed = kept[n + 1..].iter().find(|line| !matches!(line, Line::Label(_)));
            let idle = followed.is_none_or(|line| matches!(line, Line::Position(_)));
            if idle || last == Some(*span) {
                continue;
            }
            last = Some(*span);
        }
        tidy.push(line.clone());
    }
    tidy
}

/// Joins modules of one target into one text. Entries are made distinct by a number; the new names are given in
/// order.
pub(crate) fn join(modules: &[&Module]) -> (String, Vec<String>) {
    let Some(first) = modules.first() else { return (String::new(), Vec::new()) };
    let header: String = first.text.split_inclusive('\n').take(3).collect();
    let mut text = header.clone();
    let has = |part: &str| modules.iter().any(|module| module.text.contains(part));
    let functions = Function::ALL.into_iter().filter(|function| has(function.text()));
    for function in functions {
        text.push_str(function.text());
    }
    if has(DYNAMIC_DECLARATION) {
        text.push_str(DYNAMIC_DECLARATION);
    }
    let mut names = Vec::new();
    for (n, module) in modules.iter().enumerate() {
        let name = format!("{}{n}", module.entry);
        let start = format!(".visible .entry {}(", module.entry);
        if let Some(at) = module.text.find(&start) {
            let _ = write!(text, ".visible .entry {name}({}", &module.text[at + start.len()..]);
        }
        names.push(name);
    }
    (text, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal() {
        assert_eq!(entry_name("add"), "add$");
        assert_eq!(entry_name("elementwise<f32>"), "elementwise_f32_$");
        assert_eq!(entry_name("1st"), "kernel1st$");
        assert_eq!(entry_name(""), "kernel$");
    }

    #[test]
    fn jumps_to_what_follows_are_left_out() {
        let (a, b) = (Place(1), Place(2));
        let lines = vec![
            Line::Jump(None, Jump::To(a)),
            Line::Text("not reached;".to_owned()),
            Line::Label(b),
            Line::Label(a),
            Line::Jump(None, Jump::Return),
        ];
        // `b` is a label, but nobody jumps there, and what is between is not reached.
        assert_eq!(tidied(lines), [Line::Jump(None, Jump::Return)]);
    }
}
