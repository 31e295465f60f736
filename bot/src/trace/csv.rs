//! Rows as a file for spreadsheets, in which no value is taken for a formula.

use super::row::Row;

/// The first line.
pub const HEAD: &str =
    "received_utc,sender,recipient,status,subject,size,from_ip,to_ip,message_id,trace_id\r\n";

/// One row as a line.
#[must_use]
pub fn line(row: &Row) -> String {
    let received = row
        .received
        .map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    let cells = [
        cell(&received.unwrap_or_default()),
        cell(&row.sender),
        cell(&row.recipient),
        cell(row.status.word()),
        cell(&row.subject),
        row.size.to_string(),
        cell(&row.from_ip),
        cell(&row.to_ip),
        cell(&row.message_id),
        cell(&row.id),
    ];
    format!("{}\r\n", cells.join(","))
}

/// A value in quotation marks, on one line. What a spreadsheet would take for a formula gets an apostrophe in front, also where
/// blanks or other characters that it skips stand before it.
fn cell(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let skipped = |c: char| {
        c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\'' | '"')
    };
    let starts = text.trim_start_matches(skipped).chars().next();
    let formula = matches!(
        starts,
        Some(
            '=' | '+'
                | '-'
                | '@'
                | '|'
                | '%'
                | '\u{ff1d}'
                | '\u{ff0b}'
                | '\u{ff0d}'
                | '\u{ff20}'
                | '\u{2212}'
        )
    );
    let guard = if formula { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_a_formula_or_breaks_its_cell() {
        for (text, expected) in [
            ("plain", "\"plain\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("+1", "\"'+1\""),
            ("-1+1|cmd", "\"'-1+1|cmd\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"' =1\""),
            ("\u{feff}=1", "\"'\u{feff}=1\""),
            ("a\r\n=1,b", "\"a  =1,b\""),
            ("\",=1", "\"\"\",=1\""),
            ("\u{ff1d}1", "\"'\u{ff1d}1\""),
        ] {
            assert_eq!(cell(text), expected, "{text}");
        }
        let row = Row {
            subject: "a,b".into(),
            ..Row::default()
        };
        assert_eq!(line(&row).matches("\r\n").count(), 1);
        assert_eq!(HEAD.matches(',').count(), 9);
    }
}
