import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { apiKeyMode, newApiKeyText } from './api-key-text.ts'

const random = { uuid: () => '', bytes: (length: number) => new Uint8Array(randomBytes(length)) }

test('a new key carries its mode and passes its own checksum', () => {
  const key = newApiKeyText('live', random)
  expect(key).toMatch(/^pm_live_[0-9A-Za-z]{38}$/)
  expect(apiKeyMode(key)).toBe('live')
  expect(apiKeyMode(newApiKeyText('test', random))).toBe('test')
})

test('the checksum is the CRC-32 of zlib in base62', () => {
  const key = newApiKeyText('test', random)
  const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  const value = [...key.slice(-6)].reduce((sum, letter) => sum * 62 + letters.indexOf(letter), 0)
  expect(value).toBe(crc32(key.slice(0, -6)))
})

// Guarantee: a mistyped or truncated key never reaches the store, and a key cannot change its mode.
test.each([
  ['another letter', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
  ['the other mode', (key: string) => key.replace('pm_test_', 'pm_live_')],
  ['one letter short', (key: string) => key.slice(0, -1)],
  ['one letter more', (key: string) => `${key}0`],
  ['a line break', (key: string) => `${key}\n`],
  ['nothing', () => ''],
])('refuses a key with %s', (_name, change) => {
  expect(apiKeyMode(change(newApiKeyText('test', random)))).toBeNull()
})
