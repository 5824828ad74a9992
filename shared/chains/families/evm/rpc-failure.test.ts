import { describe, expect, it } from 'vitest'
import { classify } from './rpc-failure.ts'

describe('words of a node that dropped the state of a block', () => {
  it.each([
    'missing trie node 0b1c (path ) state 0x0b is not available, not found',
    'historical state 0b1c is not available',
    'required historical state unavailable (reexec=128)',
    'state at block #7 is pruned',
    'No state available for block 7',
    'World state unavailable',
  ])('%s', (message) => {
    expect(classify({ code: -32_000, message })).toBe('pruned')
  })

  it('are those of a plan without an archive, under whichever code', () => {
    const message = 'Archive requests require a personal token. Get one at: https://node.example'
    expect(classify({ code: -32_602, message })).toBe('pruned')
    expect(classify({ code: -32_000, message: 'this request requires an archive node' })).toBe('pruned')
  })

  it.each([
    ['header not found', 'unclear'],
    ['header for hash not found', 'unclear'],
    ['Resource not found', 'unclear'],
    ['execution timeout', 'late'],
  ])('are not: %s', (message, meaning) => {
    expect(classify({ code: -32_000, message })).toBe(meaning)
  })
})
