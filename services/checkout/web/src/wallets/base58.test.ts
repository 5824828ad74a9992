import { base58 as library } from '@scure/base'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base58 } from './base58.ts'

it('writes bytes as the library does', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => base58(bytes) === library.encode(bytes)))
  expect(base58(new Uint8Array(3))).toBe('111')
})
