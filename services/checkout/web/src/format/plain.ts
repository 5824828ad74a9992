/** Control characters, and those that change the direction of text or are invisible (UAX #9, UTR #36). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly the ones to be shown as a sign.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Other people's text for display: invisible characters are shown as ␦. */
export function plain(text: string): string {
  return text.replace(UNSEEN, '␦')
}
