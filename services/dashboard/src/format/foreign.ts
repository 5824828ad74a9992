// Controls (but tab and line breaks), format characters (bidirectional overrides and isolates, zero-width characters, tags; Unicode
// TR36 §3) and separators of lines and paragraphs.
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text of others with each character that cannot be seen shown as ␦, so that what is read is what is stored. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, '␦')
}
