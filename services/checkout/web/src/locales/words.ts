import type { Language } from '../format/locale.ts'
import { en, type Messages } from './en.ts'
import { es } from './es.ts'
import { pt } from './pt.ts'

/** Every text by language, for the server; the script of the pages loads one language besides English (`load-words.ts`). */
export const WORDS: Readonly<Record<Language, Messages>> = { en, es, pt }
