import { expect, it } from 'vitest'
import { isOfCustomer, nameWords, searchWordsOf } from './invoice-mapping.ts'

it.each([
  ['Jürgen Müller', ['jurgen', 'muller']],
  ['  María-José  de la O’Fuente ', ['maria', 'jose', 'de', 'la', 'o', 'fuente']],
  ['محمد الفاتح', ['محمد', 'الفاتح']],
  ['山田太郎', ['山田太郎']],
  ['🙂', []],
  ['', []],
  ['a b c d e f g h i j', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']],
  ['x'.repeat(200), ['x'.repeat(32)]],
])('the words of %j', (name, words) => expect(nameWords(name)).toEqual(words))

it('keeps what is the customer’s apart from the amount', () => {
  const words = searchWordsOf({ customer: { name: '=48.00 Ana' }, fiat: { minor: 4_800n, currency: 'USD' } })
  expect(words).toEqual(['48', '00', 'ana', '=48.00'])
  expect(words.filter(isOfCustomer)).toEqual(['48', '00', 'ana'])
})
