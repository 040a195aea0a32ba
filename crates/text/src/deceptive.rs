/// True for a character that a terminal or a reader could take for more than text: one that ends a line,
/// moves a cursor, hides itself or reorders what stands around it.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_seen_does_not_deceive() {
        assert!("größe 数 😀 -_\u{a0}".chars().all(|character| !is_deceptive(character)));
        assert!(
            "\n\t\u{1b}\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}\u{e0041}".chars().all(is_deceptive)
        );
    }
}
