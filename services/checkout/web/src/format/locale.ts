import type { FiatCode } from '#shared/domain/enumerations.ts'

/** The languages of the payers' pages. */
export const LANGUAGES = ['en', 'es', 'pt'] as const
export type Language = (typeof LANGUAGES)[number]

/** How a country that pays in a currency writes numbers in Spanish. */
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

/** The language to show: the one that was asked for, else the first known one of the person's list, else English. */
export function chooseLanguage(asked: string | null, preferred: readonly string[]): Language {
  for (const tag of [asked ?? '', ...preferred]) {
    const known = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language)
    if (known !== undefined) return known
  }
  return 'en'
}

/** The person's own variety of the language, else a usual one. */
export function localeOf(language: Language, preferred: readonly string[], currency: FiatCode | null = null): string {
  const own = preferred.find((tag) => tag.toLowerCase().startsWith(`${language}-`))
  if (own !== undefined) return own
  if (language === 'es') return currency === null ? 'es' : SPANISH[currency]
  return language === 'pt' ? 'pt-BR' : 'en-US'
}
