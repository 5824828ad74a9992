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
  for (const index of [0, 1, 2, 3]) {
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
