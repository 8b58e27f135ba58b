use lbbsp::sizing;

/// What is wrong in a table. Lines are counted from 1, the header being the first as a rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the file is empty, a header such as `t,speed` and rows are needed")]
    Empty,
    #[error("line {line}: the text is not UTF-8{}", if *.wide { " but UTF-16" } else { "" })]
    NotUtf8 { line: usize, wide: bool },
    #[error(
        "line {line}: the header is missing, there are numbers; a header names the columns, such as `t,speed`"
    )]
    NoHeader { line: usize },
    #[error("line {line}: there is no column `{name}`; the columns are {there}{hint}")]
    MissingColumn {
        line: usize,
        name: String,
        there: String,
        hint: &'static str,
    },
    #[error("line {line}: column `{name}` is there twice")]
    DuplicateColumn { line: usize, name: String },
    #[error("line {line}: there is a header, but no rows follow")]
    NoRows { line: usize },
    #[error("line {line}: the row has {got} cells, the header has {expected}")]
    Cells {
        line: usize,
        expected: usize,
        got: usize,
    },
    #[error("line {line}: cell {cell} runs over several lines; is a closing quote missing?")]
    SeveralLines { line: usize, cell: usize },
    #[error("line {line}, column `{column}`: the cell is empty")]
    EmptyCell { line: usize, column: String },
    #[error("line {line}, column `{column}`: `{got}` is not a number{}", comma(*.decimal_comma))]
    NotANumber {
        line: usize,
        column: String,
        got: String,
        decimal_comma: bool,
    },
    #[error("line {line}, column `{column}`: the value must be {expected}, got {got}")]
    Value {
        line: usize,
        column: String,
        expected: &'static str,
        got: f64,
    },
    #[error("{0}")]
    Trace(sizing::Error),
}

fn comma(decimal: bool) -> &'static str {
    if decimal {
        "; decimals are written with a point, not a comma"
    } else {
        ""
    }
}
