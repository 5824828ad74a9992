import { LANGUAGE } from '../../words/language.ts'
import { en } from './texts/en.ts'
import { es } from './texts/es.ts'
import { pt } from './texts/pt.ts'

/** The texts of the page in the person's language. */
export const words = { en, es, pt }[LANGUAGE]
