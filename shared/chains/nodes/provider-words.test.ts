import { expect, it } from 'vitest'
import { createWordsFilter } from './provider-words.ts'

const wordsOf = createWordsFilter(new URL('https://us%65r:hush-hush@node.example/v3/short-key/x?apikey=query-key'))

// Guarantee: a provider that repeats our URL, our key or control characters shows none of them to an operator.
it.each([
  ['limit reached, see https://dash.example/keys?k=1 now.', 'limit reached, see dash.example now'],
  ['the key short-key is not known, nor hush-hush or query-key', 'the key … is not known, nor … or …'],
  ['project 0123456789abcdef0123456789abcdef has no archive', 'project … has no archive'],
  ['red \u001b[31mtext\u0007\n\nand lines', 'red [31mtext and lines'],
  ['x '.repeat(500), 'x '.repeat(80)],
  ['', ''],
])('keeps of %j what may be shown', (text, shown) => {
  expect(wordsOf(text)).toBe(shown)
})
