import { describe, expect, it } from 'vitest'
import { outputScript, unsignedTransaction } from './output-script.ts'

const HASH = '751e76e8199196d454941c45d1b3a323f1433bd6'

describe('outputScript', () => {
  // BIP 173 and BIP 350 test vectors, and the widely published addresses of the secret key 1.
  it.each([
    ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', `0014${HASH}`],
    ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', `0014${HASH}`],
    ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', `0014${HASH}`],
    [
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    ],
    ['1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH', `76a914${HASH}88ac`],
    ['DFpN6QqFfUm3gKNaxN6tNcab1FArL9cZLE', `76a914${HASH}88ac`],
    ['3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87'],
    [`76a914${HASH}88ac`, `76a914${HASH}88ac`],
  ])('of %s', (target, script) => {
    expect(outputScript(target)).toBe(script)
  })

  it('refuses what is no address', () => {
    for (const text of ['', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'hello', '0x12']) {
      expect(() => outputScript(text)).toThrow()
    }
  })
})

it('a development payment has few outputs', () => {
  const outputs = Array.from({ length: 253 }, () => ({ script: `0014${HASH}`, amountBase: 1n }))
  expect(() => unsignedTransaction([], outputs)).toThrow(RangeError)
})
