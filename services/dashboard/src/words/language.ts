/** The languages of pages whose texts are translated; the others are English. */
export const LANGUAGES = ['en', 'es', 'pt'] as const
export type Language = (typeof LANGUAGES)[number]

/** The first of the person's languages that pages have, otherwise English. */
export function languageOf(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const known = LANGUAGES.find((language) => tag.toLowerCase().split('-')[0] === language)
    if (known !== undefined) return known
  }
  return 'en'
}

/** The language of the browser; it does not change while a page is open. */
export const LANGUAGE: Language = languageOf(globalThis.navigator?.languages ?? [])
