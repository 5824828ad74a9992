import { describe, expect, it } from 'vitest'
import type { Family } from '#shared/domain/enumerations.ts'
import vectors from '#test/vectors/ownership.json' with { type: 'json' }
import { verifyControl } from './verify-control.ts'

const { text } = vectors
const rows = vectors.rows.map((row) => ({ ...row, family: row.family as Family }))

// Guarantee: what wallets sign is recognised, by the word of libraries that others wrote.
it.each(rows)('takes $family, $form, made by $made_by', ({ family, match_key: key, signature }) => {
  expect(verifyControl(family, key, text, signature)).toBe(true)
  expect(verifyControl(family, key, text, ` ${signature}\n`)).toBe(true)
})

describe('is no proof', () => {
  it.each(rows)('of another text: $family, $form', ({ family, match_key: key, signature }) => {
    expect(verifyControl(family, key, text.replace('live', 'test'), signature)).toBe(false)
    expect(verifyControl(family, key, `${text} `, signature)).toBe(false)
  })

  it.each(rows)('of another address: $family, $form', ({ family, match_key: key, signature }) => {
    for (const place of [6, key.length - 8]) {
      const other = key.slice(0, place) + (key[place] === '0' ? '1' : '0') + key.slice(place + 1)
      expect(verifyControl(family, other, text, signature)).toBe(false)
    }
  })

  it.each(rows)('when one character differs: $family, $form', ({ family, match_key: key, signature }) => {
    for (let place = 4; place < signature.length - 4; place += 7) {
      const changed = signature.slice(0, place) + (signature[place] === 'a' ? 'b' : 'a') + signature.slice(place + 1)
      expect(verifyControl(family, key, text, changed)).toBe(false)
    }
  })

  it.each(rows)('of another chain: $family, $form', ({ family, match_key: key, signature, form }) => {
    // BIP 322 commits to the script and the text, which name the chain in no way; the text of a challenge does.
    const others = rows.filter((row) => row.family !== family).map((row) => row.family)
    for (const other of new Set(others)) {
      const isSameForm = form.startsWith('BIP 322') && ['bitcoin', 'litecoin', 'dogecoin'].includes(other)
      if (!isSameForm) expect(verifyControl(other, key, text, signature)).toBe(false)
    }
  })

  it.each([
    '',
    'x',
    '0x',
    '0x00',
    `0x${'0'.repeat(130)}`,
    `0x${'f'.repeat(130)}`,
    'A'.repeat(88),
    '1'.repeat(64),
    '\u0000',
    '9'.repeat(5_000),
  ])('for any family: %j', (signature) => {
    for (const { family, match_key: key } of rows) expect(verifyControl(family, key, text, signature)).toBe(false)
  })
})

// Guarantee: a point of small order signs everything for everybody, so it never proves anything.
it('refuses Solana keys that anybody can sign for', () => {
  const neutral = `01${'00'.repeat(31)}`
  const forged = Buffer.concat([Buffer.from(neutral, 'hex'), Buffer.alloc(32)]).toString('base64')
  expect(verifyControl('solana', neutral, text, forged)).toBe(false)
})
