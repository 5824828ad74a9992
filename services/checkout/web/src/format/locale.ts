import type { FiatCode } from '#shared/domain/enumerations.ts'

/** The languages of the payers' pages. */
export const LANGUAGES = ['en', 'es', 'pt'] as const
export type Language = (typeof LANGUAGES)[number]
/** The name of each language in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: 'English', es: 'Español', pt: 'Português' }

/** Number format in Spanish by the country of a currency. */
const SPANISH: Readonly<Record<FiatCode, string>> = {
  USD: 'es-US',
  EUR: 'es-ES',
  GBP: 'es-ES',
  BRL: 'es-AR',
  MXN: 'es-MX',
  DOP: 'es-DO',
  COP: 'es-CO',
  ARS: 'es-AR',
  CLP: 'es-CL',
  PEN: 'es-PE',
}

/** The language to show: the requested one, otherwise the first supported one of the person's list, otherwise English. */
export function chooseLanguage(lang: string | null, preferred: readonly string[]): Language {
  for (const tag of [lang ?? '', ...preferred]) {
    const known = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language)
    if (known !== undefined) return known
  }
  return 'en'
}

/** The person's own variety of the language, otherwise a usual one. */
export function localeOf(language: Language, preferred: readonly string[], currency: FiatCode | null = null): string {
  const own = preferred.find((tag) => tag.toLowerCase().startsWith(`${language}-`))
  if (own !== undefined) return own
  if (language === 'es') return currency === null ? 'es' : SPANISH[currency]
  return language === 'pt' ? 'pt-BR' : 'en-US'
}
