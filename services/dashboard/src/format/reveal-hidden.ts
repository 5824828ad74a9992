// Controls (but tab and line breaks), format characters (bidirectional overrides and isolates, zero-width characters, tags; Unicode
// TR36 §3) and separators of lines and paragraphs.
const HIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Other people's text with each invisible character shown as ␦, so that the displayed text matches the stored one. */
export function revealHidden(text: string): string {
  return text.replace(HIDDEN, '␦')
}
