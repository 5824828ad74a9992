import { expect, it } from 'vitest'
import { deepTest } from '#test/support/depth.ts'
import { findBadNames, findBannedWords, trackedTexts } from './check-words.ts'

deepTest('finds no banned word in the files of the project', () => {
  const texts = trackedTexts()
  expect(texts.size).toBeGreaterThan(1_500)
  expect([...texts].flatMap(([path, text]) => findBannedWords(path, text))).toEqual([])
  expect([...texts].flatMap(([path, text]) => findBadNames(path, text))).toEqual([])
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

it.each([
  ['const asked = 1', ['asked']],
  ['export async function ask(): Promise<void> {}', ['ask']],
  ['interface Row { readonly askedAt: number }', ['askedAt']],
  ['const { ASK_AGAIN_MS } = limits', ['ASK_AGAIN_MS']],
  ['class Node { #asking = 1 }', ['#asking']],
  ["type Answer = 'not_asked' | 'refund.asked'", ['not_asked', 'refund.asked']],
  [`const id = \`recovery_asked:\${opId}:ask\``, ['recovery_asked:', ':ask']],
  ['await node.ask()', ['ask']],
  ['export interface Held { readonly at: number }', ['Held']],
  ['type Stored = string', ['Stored']],
  ['type StoredRow = string', []],
  ["// Nobody asked.\nconst text = 'Ask again.'", []],
  ['const mask = task + basket + queueMicrotask', []],
])('refuses names that say ask, and participles as types: %s', (text, words) => {
  expect(findBadNames('shared/x.ts', text).map(({ word }) => word)).toEqual(words)
})

it('lets prices of an order book be bid and ask, where prices are read', () => {
  const row = 'const row = { bid, ask, askPx: ask }'
  expect(findBadNames('services/rates/sources/okx.ts', row)).toEqual([])
  expect(findBadNames('services/api/okx.ts', row).map(({ word }) => word)).toEqual(['ask', 'askPx', 'ask'])
  expect(findBadNames('services/rates/sources/okx.ts', 'const askedAt = 1')).toHaveLength(1)
})
