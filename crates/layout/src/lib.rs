//! Layouts of nested shapes and strides, and the algebra on them.
