//! What compiling gives.

use tilewise_ir::{ParamId, Site};

/// A kernel as PTX, and what a launch has to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The text, to be assembled by the driver or by `ptxas`.
    pub text: String,
    /// Name of the entry in it.
    pub entry: String,
    /// What the entry's parameters are, in order. Each takes 8 bytes, but a scalar of fewer takes its own size.
    pub args: Vec<Arg>,
    /// Bytes of shared memory that the text declares.
    pub static_shared_bytes: u64,
    /// Bytes of shared memory that the launch has to ask for; above 48 KB the function's limit has to be raised
    /// first.
    pub dynamic_shared_bytes: u64,
    /// What may be reported, by number.
    pub sites: Vec<Site>,
}

impl Module {
    /// The text with the demand that so many blocks fit a multiprocessor at a time, for which the assembler saves registers.
    ///
    /// ```
    /// use tilewise_ir::{Kernel, analysis::Facts};
    /// use tilewise_ptx::{Target, compile};
    ///
    /// let kernel: Kernel = "kernel @k() { return }".parse()?;
    /// let facts = Facts { block: Some([256, 1, 1]), ..Facts::unknown(&kernel) };
    /// let module = compile(&kernel, &facts, Target::new(90))?;
    /// assert!(module.text_for_blocks(3).contains(".reqntid 256, 1, 1\n.minnctapersm 3\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_for_blocks(&self, blocks: u32) -> String {
        // The directive stands before the body of the entry, which opens with the first brace at the start of a line after
        // the entry's own line.
        let entry = self.text.find(".entry").unwrap_or(0);
        match self.text[entry..].find("\n{") {
            Some(body) => {
                let (before, after) = self.text.split_at(entry + body + 1);
                format!("{before}.minnctapersm {blocks}\n{after}")
            }
            None => self.text.clone(),
        }
    }

    /// The text with functions that report nothing in place of those that report; `None` if there are none. A driver that
    /// links code gives an entry as many registers as what it calls wants at most, and that is not known from the entry
    /// alone: this text tells how many the entry itself takes.
    ///
    /// ```
    /// use tilewise_ir::{Kernel, analysis::Facts};
    /// use tilewise_ptx::{Target, compile};
    ///
    /// let kernel: Kernel = "kernel @k() {\n%0 = const bool false\nassert %0, \"no\"\nreturn\n}".parse()?;
    /// let module = compile(&kernel, &Facts::unknown(&kernel), Target::new(90))?;
    /// let silent = module.text_without_reports().expect("an assertion is reported");
    /// assert!(silent.len() < module.text.len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn text_without_reports(&self) -> Option<String> {
        crate::emit::without_reports(&self.text)
    }
}

/// A parameter of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arg {
    /// Address of the tensor's first element.
    Data(ParamId),
    /// The value of a scalar parameter, in the size of its type; a `bool` takes one byte.
    Scalar(ParamId),
    /// Extent of a dimension, 8 bytes.
    Extent(ParamId, u8),
    /// Stride of a dimension in elements, 8 bytes.
    Stride(ParamId, u8),
    /// Address of the reports of the context (see [`site`](crate::site)), 8 bytes.
    Reports,
    /// Number of the launch, 8 bytes: it stands in what the launch reports.
    Launch,
}
