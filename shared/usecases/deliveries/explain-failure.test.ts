import { expect, test } from 'vitest'
import { explainFailure } from './explain-failure.ts'

test.each([
  ['timeout', /10 s/],
  ['blocked_address', /not public.*Nothing was sent/],
  ['status_302', /answered 302: a redirect, which is not followed/],
  ['status_404', /answered 404: there is nothing at this path/],
  ['status_418', /answered 418: it does not accept the request/],
  ['status_500', /answered 500: it failed while/],
  ['status_503', /overloaded/],
  ['new_word', /new_word/],
])('%s is a sentence', (word, sentence) => {
  expect(explainFailure(word)).toMatch(sentence)
})

test('a word that every object has is no sentence of ours', () => {
  expect(explainFailure('constructor')).toBe('The attempt failed: constructor.')
})
