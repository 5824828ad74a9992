/** Control characters, and those that turn the direction of text around or hide in it (UAX #9, UTR #36). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is shown as a sign.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** Text of other people as it may be shown: what cannot be seen is shown as ␦. */
export function plain(text: string): string {
  return text.replace(UNSEEN, '␦')
}
