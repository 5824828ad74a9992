import { expect, it } from 'vitest'
import { createSecretBox } from './secret-box.ts'

const box = createSecretBox(new Uint8Array(32).fill(1))

it('opens what it sealed, and seals the same text differently each time', () => {
  const sealed = box.seal('whsec_é…', 'endpoint:1')
  expect(box.open(sealed, 'endpoint:1')).toBe('whsec_é…')
  expect(sealed).not.toContain('whsec')
  expect(box.seal('whsec_é…', 'endpoint:1')).not.toBe(sealed)
  expect(box.open(box.seal('', 'c'), 'c')).toBe('')
})

// Guards access: a stored secret cannot be moved to another record, altered, or read with another key.
it('refuses another context, another key and any changed part', () => {
  const sealed = box.seal('secret', 'endpoint:1')
  expect(() => box.open(sealed, 'endpoint:2')).toThrow()
  expect(() => createSecretBox(new Uint8Array(32).fill(2)).open(sealed, 'endpoint:1')).toThrow()
  const parts = sealed.split('.')
  for (const index of parts.keys()) {
    const changed = parts.map((part, at) =>
      at === index ? `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}` : part,
    )
    expect(() => box.open(changed.join('.'), 'endpoint:1')).toThrow()
  }
  expect(() => box.open(`${sealed}.AAAA`, 'endpoint:1')).toThrow()
  expect(() => box.open('', 'endpoint:1')).toThrow()
})

it('refuses a key of another length', () => {
  expect(() => createSecretBox(new Uint8Array(16))).toThrow()
})

const OLD = new Uint8Array(32).fill(1)
const NEW = new Uint8Array(32).fill(2)
/** A text without a key id, sealed by key `OLD` itself for context `endpoint:1`: nothing writes this form. */
const WITHOUT_ID = 'v1.BwcHBwcHBwcHBwcH.G6u9MbNOh2ywypKyT2cPSQ.-puZwWzx18hr6XA'

// Guards secrets: while the key changes, every process can read what any other sealed.
it('opens under every key of the ring and seals under the first', () => {
  const before = createSecretBox([OLD, NEW])
  const after = createSecretBox([NEW, OLD])
  expect(before.open(after.seal('a', 'c'), 'c')).toBe('a')
  expect(after.open(before.seal('b', 'c'), 'c')).toBe('b')
  expect(() => after.open(WITHOUT_ID, 'endpoint:1')).toThrow('not a sealed text')
  expect(() => after.reseal(WITHOUT_ID, 'endpoint:1')).toThrow('not a sealed text')
  expect(after.seal('a', 'c').startsWith(after.prefix)).toBe(true)
  expect(after.keyId).not.toBe(before.keyId)
  expect(() => createSecretBox(NEW).open(before.seal('b', 'c'), 'c')).toThrow(`master key ${before.keyId}`)
})

// Guards secrets: after a rotation the former key opens nothing, and nothing unreadable is passed on as if it were sound.
it('moves envelopes to the present key', () => {
  const after = createSecretBox([NEW, OLD])
  const sealed = createSecretBox(OLD).seal('whsec_first', 'endpoint:1')
  const moved = after.reseal(sealed, 'endpoint:1')
  expect(moved.startsWith(after.prefix)).toBe(true)
  expect(createSecretBox(NEW).open(moved, 'endpoint:1')).toBe('whsec_first')
  expect(() => createSecretBox(OLD).open(moved, 'endpoint:1')).toThrow()
  expect(() => after.reseal(sealed, 'endpoint:2')).toThrow()
  expect(() => after.reseal(`${sealed.slice(0, -4)}AAAA`, 'endpoint:1')).toThrow()
})
