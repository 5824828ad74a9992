import { describe, expect, it } from 'vitest'
import { PaymeshError } from '#shared/contracts/errors.ts'
import type { Family } from '#shared/domain/enumerations.ts'
import { parseAddressList } from './address-book.ts'

// EIP-55's own examples, the Solana System program's documentation and TRON's developer guide.
const EVM = ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'] as const
const TRON = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH'
const SOLANA = '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g'

function problems(family: Family, value: string): readonly string[] {
  try {
    parseAddressList(family, value)
  } catch (error) {
    if (!(error instanceof PaymeshError)) throw error
    expect(error.code).toBe('VALIDATION_ERROR')
    expect(new Set(error.details?.map(({ path }) => path))).toEqual(new Set(['value']))
    const said = JSON.stringify([error.message, error.details, error.internal, String(error.cause)])
    // Guarantee: nothing of a pasted entry travels in the error.
    for (const entry of value.split(/[\s,]+/).filter((text) => text.length > 16)) {
      expect(said).not.toContain(entry.slice(4, 20))
    }
    return error.details?.map(({ message }) => message) ?? []
  }
  throw new Error('the list was accepted')
}

describe('a list of addresses', () => {
  it('is read from lines, commas, semicolons and CSV with a heading and comments', () => {
    const expected = {
      addresses: EVM.map((address) => ({ address, matchKey: address.slice(2).toLowerCase() })),
      repeated: 0,
    }
    expect(parseAddressList('evm', EVM.join('\n'))).toEqual(expected)
    expect(parseAddressList('evm', ` ${EVM.join(' ; ')}\r\n`)).toEqual(expected)
    expect(parseAddressList('evm', `address\n# warm wallet\n"${EVM[0]}",\n"${EVM[1]}"`)).toEqual(expected)
  })

  it('counts repetitions and keeps each address once', () => {
    expect(parseAddressList('tron', `${TRON},${TRON}\n${TRON}`)).toEqual({
      addresses: [{ address: TRON, matchKey: 'c8599111f29c1e1e061265b4af93ea1f274ad78a' }],
      repeated: 2,
    })
    expect(parseAddressList('solana', SOLANA).addresses).toMatchObject([{ address: SOLANA }])
  })

  it.each<[string, Family, string, RegExp]>([
    ['no address', 'evm', ' \n# nothing', /contains no address/],
    ['a wrong checksum', 'evm', EVM[0].replace('5aAe', '5aae'), /Line 1: .*EIP-55/],
    ['no checksum', 'evm', EVM[0].toLowerCase(), /with its EIP-55 checksum/],
    ['the zero address', 'evm', `0x${'0'.repeat(40)}`, /zero address/],
    ['a token contract', 'evm', '0xdAC17F958D2ee523a2206206994597C13D831ec7', /token contract/],
    ['a TRON address for EVM', 'evm', TRON, /TRON address/],
    ['an EVM address for TRON', 'tron', EVM[0], /EVM form/],
    ['the hex form of TRON', 'tron', '41c8599111f29c1e1e061265b4af93ea1f274ad78a', /hex form/],
    ['a wrong character', 'tron', `${TRON.slice(0, -1)}J`, /checksum/],
    ['a Bitcoin address for TRON', 'tron', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /another network/],
    ['the USDT contract of TRON', 'tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', /token contract/],
    ['an EVM address for Solana', 'solana', EVM[0], /EVM address/],
    ['too few bytes', 'solana', '1111', /32 bytes/],
    ['a wrong letter', 'solana', SOLANA.replace('B', '0'), /base58/],
    ['a token mint', 'solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', /token contract/],
    // The associated token account of the wallet above for USDC lies off the curve, as all of them do.
    ['a token account', 'solana', 'FGETo8T8wMcN2wCjav8VK6eh3dLk63evNDPxzLSJra8B', /token account/],
    [
      'an address of an extended key family',
      'bitcoin',
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      /extended public key/,
    ],
  ])('refuses %s', (_what, family, value, message) => {
    expect(problems(family, value)[0]).toMatch(message)
  })

  // Guarantee: no form of private key passes as an address, and none is repeated.
  it.each<[string, string, RegExp]>([
    ['hex', 'a'.repeat(64), /raw private key/],
    ['64 bytes in base58', '5'.repeat(88), /Solana private key/],
    ['a key file of Solana', JSON.stringify(Array.from({ length: 64 }, () => 7)), /Solana private key/],
    ['a phrase', `${'abandon '.repeat(11)}about`, /recovery phrase/],
    ['a phrase among addresses', `${SOLANA}\n${'abandon '.repeat(11)}about`, /Line 2: .*recovery phrase/],
    ['a keystore', '{"crypto":{"cipher":"aes-128-ctr"}}', /keystore/],
  ])('refuses a private key: %s', (_form, value, message) => {
    expect(problems('solana', value)).toEqual([expect.stringMatching(message)])
  })

  it('names every wrong line, but not hundreds', () => {
    const value = Array.from({ length: 30 }, (_, index) => `wrong${index}`).join('\n')
    const said = problems('evm', value)
    expect(said).toHaveLength(21)
    expect(said[3]).toMatch(/^Line 4:/)
    expect(said.at(-1)).toMatch(/10 more/)
    expect(problems('evm', `${EVM[0]},`.repeat(10_001))).toEqual([expect.stringMatching(/more than 10000/)])
  })
})
