import { expect, it } from 'vitest'
import { isOfCustomer, nameWords, searchWordsOf } from './invoice-mapping.ts'

it.each([
  ['Jürgen Müller', ['jurgen', 'muller']],
  ['  María-José  de la O’Fuente ', ['maria', 'jose', 'de', 'la', 'o', 'fuente']],
  ['محمد الفاتح', ['محمد', 'الفاتح']],
  ['Łukasz Wójcik', ['lukasz', 'wojcik']],
  ['Søren Kjær-Ødegård', ['soren', 'kjaer', 'odegard']],
  ['Đặng Thị Nhàn', ['dang', 'thi', 'nhan']],
  ['IŞIK ışık', ['isik']],
  ['Þórður Guðmundsson', ['thordur', 'gudmundsson']],
  ['STRASSER straßer GROẞ', ['strasser', 'gross']],
  ['ΒΑΣΙΛΗΣ Βασίλης', ['βασιλησ']],
  ['Əliyev Œuvrard', ['eliyev', 'oeuvrard']],
  ['علی علي', ['علي']],
  ['Марʼяна Мар’яна', ['мар', 'яна']],
  ['山田太郎', ['山田太郎']],
  ['🙂', []],
  ['', []],
  ['a b c d e f g h i j', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']],
  ['x'.repeat(200), ['x'.repeat(32)]],
])('the words of %j', (name, words) => expect(nameWords(name)).toEqual(words))

// Guarantee: no letter of a European or Vietnamese alphabet asks for a keyboard that has it.
it.each([
  ['Latin-1 Supplement and Latin Extended-A', 0xc0, 0x17f],
  ['Romanian', 0x218, 0x21b],
  ['Vietnamese', 0x1ea0, 0x1ef9],
])('spells each letter of %s with letters of ASCII', (_block, first, last) => {
  const letters = Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at))
  const spelled = letters
    .filter((letter) => /\p{L}/u.test(letter))
    .map((letter) => [letter, nameWords(letter).join('')])
  expect(spelled.filter(([, word]) => !/^[a-z]{1,2}$/.test(String(word)))).toEqual([])
})

it('keeps what is the customer’s apart from the amount', () => {
  const words = searchWordsOf({ customer: { name: '=48.00 Ana' }, fiat: { minor: 4_800n, currency: 'USD' } })
  expect(words).toEqual(['48', '00', 'ana', '=48.00'])
  expect(words.filter(isOfCustomer)).toEqual(['48', '00', 'ana'])
})
