import type { FiatCode } from '#shared/domain/enumerations.ts'
import { type Language, localeOf } from '../format/locale.ts'
import { plain } from '../format/plain.ts'
import type { MessageKey, Messages } from './en.ts'

/** Values of a text's placeholders. */
export type Fill = Readonly<Record<string, string | number>>

/** Texts and formats of a page's language. */
export interface Speech {
  readonly language: Language
  readonly texts: Messages
  /** The text with its places filled; for titles, labels and announcements. */
  say(key: MessageKey, fill?: Fill): string
  locale(currency?: FiatCode | null): string
}

/** Speech in a language with its texts, for a reader who prefers these languages (BCP 47, the first one first). */
export function speechIn(language: Language, texts: Messages, preferred: readonly string[]): Speech {
  return {
    language,
    texts,
    say: (key, fill = {}) => texts[key].replace(/\{(\w)\}/g, (_, name: string) => plain(String(fill[name] ?? ''))),
    locale: (currency = null) => localeOf(language, preferred, currency),
  }
}
