import { LANGUAGE, type Language } from '../../words/language.ts'

const TITLES: Readonly<Record<Language, string>> = {
  en: 'Where the money lies',
  es: 'Dónde está el dinero',
  pt: 'Onde está o dinheiro',
}

/** The name of the page in the person's language; apart from its texts, because other pages lead to it. */
export const fundsTitle: string = TITLES[LANGUAGE]
