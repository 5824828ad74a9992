import { describe, expect, it } from 'vitest'
import { createAddressReader, guessAddress } from './payee-address.ts'

const { read } = createAddressReader()

describe('an address that a customer gives', () => {
  // From BIP 173, BIP 350, BIP 13 and the networks' own documents.
  it.each([
    ['bitcoin', 'live', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
    [
      'bitcoin',
      'live',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
      '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    ],
    ['bitcoin', 'live', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG', 'a914e9c3dd0c07aac76179ebc76a6c78d4d67c6c160a87'],
    ['tron', 'live', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', null],
    ['ethereum', 'live', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'],
  ] as const)('is read on %s in %s mode: %s', (network, mode, address, matchKey) => {
    if (matchKey === null) expect(() => read(network, mode, address)).toThrow()
    else expect(read(network, mode, ` ${address} `)).toEqual({ address, matchKey })
  })

  // Guarantee: money is never sent back to an address of another network or mode, or to one with a typing error.
  it.each([
    ['bitcoin', 'live', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
    ['bitcoin', 'test', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['bitcoin', 'live', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5'],
    ['litecoin', 'live', '3P14159f73E4gFr7JterCCQh9QjiTjiZrH'],
    ['bitcoin', 'live', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['ethereum', 'live', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['solana', 'live', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
    ['ethereum', 'live', ''],
  ] as const)('is refused on %s in %s mode: %s', (network, mode, address) => {
    expect(() => read(network, mode, address)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: [expect.objectContaining({ path: 'address' })] }),
    )
  })

  it('is recognised by its form alone when something is looked up', () => {
    expect(guessAddress('live', '0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toEqual([
      { family: 'evm', matchKey: '5aaeb6053f3e94c9b9a09f33669435e7ef1beaed' },
    ])
    expect(guessAddress('live', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toMatchObject([{ family: 'bitcoin' }])
    expect(guessAddress('live', 'no address')).toEqual([])
  })
})
