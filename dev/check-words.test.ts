import { expect, it } from 'vitest'
import { deepTest } from '#test/support/depth.ts'
import { findBannedWords, trackedTexts } from './check-words.ts'

deepTest('finds no banned word in the files of the project', () => {
  const texts = trackedTexts()
  expect(texts.size).toBeGreaterThan(1_500)
  expect([...texts].flatMap(([path, text]) => findBannedWords(path, text))).toEqual([])
})

it.each([
  ['const endpointDeeds = 1', ['deed']],
  ['A deed of an operator.', ['deed']],
  ['KICKS_MAX', ['kick']],
  ['kicks_dropped_total', ['kick', 'kicks_dropped_total']],
  ['sweeps-and-kicks.md', ['kick']],
  ['unkickable kickoff', []],
  ['The street astray of strangers', []],
  ['type EndpointWish = 1', ['wish']],
  ['As you wish.', []],
  ['order books', []],
  ['the judgement', ['judgement']],
])('looks for words in prose and in identifiers: %s', (text, words) => {
  const found = findBannedWords('shared/x.ts', text)
  expect([...new Set(found.map(({ word }) => word.toLowerCase()))]).toEqual([
    ...new Set(words.map((word) => word.toLowerCase())),
  ])
})

it('names the line, and leaves history and stored names alone', () => {
  expect(findBannedWords('a.md', 'one\na stray line')).toMatchObject([{ line: 2, word: 'stray' }])
  expect(findBannedWords('CHANGELOG.md', 'kick')).toEqual([])
  expect(findBannedWords('shared/contracts/audit-labels.ts', 'exception.noted')).toEqual([])
  expect(findBannedWords('shared/contracts/audit-labels.ts', 'noted')).toHaveLength(1)
})
