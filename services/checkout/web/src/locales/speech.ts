import type { FiatCode } from '#shared/domain/enumerations.ts'
import { type Language, localeOf } from '../format/locale.ts'
import { plain } from '../format/plain.ts'
import { en, type MessageKey, type Messages } from './en.ts'
import { es } from './es.ts'
import { pt } from './pt.ts'

/** Every text by language. */
export const WORDS: Readonly<Record<Language, Messages>> = { en, es, pt }

/** Values of a text's placeholders. */
export type Fill = Readonly<Record<string, string | number>>

/** Texts and formats of a page's language. */
export interface Speech {
  readonly language: Language
  /** The text with its places filled; for titles, labels and announcements. */
  say(key: MessageKey, fill?: Fill): string
  locale(currency?: FiatCode | null): string
}

/** Speech in a language, for a reader who prefers these languages (BCP 47, the first one first). */
export function speechIn(language: Language, preferred: readonly string[]): Speech {
  const messages = WORDS[language]
  return {
    language,
    say: (key, fill = {}) => messages[key].replace(/\{(\w)\}/g, (_, name: string) => plain(String(fill[name] ?? ''))),
    locale: (currency = null) => localeOf(language, preferred, currency),
  }
}
