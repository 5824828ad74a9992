import type { Language } from '../format/locale.ts'
import { en, type Messages } from './en.ts'

/** Languages that are separate files: a page loads the one that it shows. The document names its file too (`services/checkout/pages.ts`). */
const FILES: Readonly<Partial<Record<Language, () => Promise<Messages>>>> = {
  es: async () => (await import('./es.ts')).es,
  pt: async () => (await import('./pt.ts')).pt,
}

/** A language with its texts; English, which is part of the script, where the file of another one does not arrive. */
export async function loadWords(
  language: Language,
): Promise<{ readonly language: Language; readonly texts: Messages }> {
  try {
    return { language, texts: (await FILES[language]?.()) ?? en }
  } catch {
    return { language: 'en', texts: en }
  }
}
