/// What is wrong in a table. Lines are counted from 1, the header being the first as a rule.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the gzip data end too early; was the file copied and written completely?")]
    CutOff,
    #[error("the gzip data are damaged, they cannot be unpacked")]
    Damaged,
    #[error("the file is empty, a header such as `{example}` and rows are needed")]
    Empty { example: String },
    #[error("line {line}: the text is not UTF-8{}", if *.wide { " but UTF-16" } else { "" })]
    NotUtf8 { line: usize, wide: bool },
    #[error(
        "line {line}: the header is missing, there are numbers; a header names the columns, such as `{example}`"
    )]
    NoHeader { line: usize, example: String },
    #[error(
        "line {line}: there is no column `{name}`; {}the columns are {there}{hint}",
        did_you_mean(.near)
    )]
    MissingColumn {
        line: usize,
        name: String,
        /// Columns with a name like it, the closest first.
        near: Vec<String>,
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
}

fn did_you_mean(near: &[String]) -> String {
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => format!("did you mean {only}? "),
        Some((last, others)) => format!("did you mean {} or {last}? ", others.join(", ")),
    }
}

fn comma(decimal: bool) -> &'static str {
    if decimal {
        "; decimals are written with a point, not a comma"
    } else {
        ""
    }
}
