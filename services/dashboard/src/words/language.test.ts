import { expect, it } from 'vitest'
import { languageOf } from './language.ts'

it.each([
  [['es-MX', 'en'], 'es'],
  [['fr', 'pt-BR'], 'pt'],
  [['PT'], 'pt'],
  [['de', 'fr'], 'en'],
  [['esperanto'], 'en'],
  [[], 'en'],
])('of %j it is %s', (preferred, language) => {
  expect(languageOf(preferred)).toBe(language)
})
