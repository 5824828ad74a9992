import { expect, test } from 'vitest'
import { explainFailure } from './describe.ts'

test.each([
  ['timeout', /10 s/],
  ['blocked_address', /not public.*Nothing was sent/],
  ['status_302', /returned 302 \(redirect, which Paymesh does not follow/],
  ['status_404', /returned 404 \(not found; check the path/],
  ['status_418', /returned 418 \(request rejected/],
  ['status_500', /returned 500 \(internal error/],
  ['status_503', /returned 503 \(unavailable/],
  ['new_word', /new_word/],
])('%s is a sentence', (word, sentence) => {
  expect(explainFailure(word)).toMatch(sentence)
})

test('a word that every object has is no sentence of ours', () => {
  expect(explainFailure('constructor')).toBe('The attempt failed: constructor.')
})
