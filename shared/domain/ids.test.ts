import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { crc32, newApiKey, parseApiKey } from './api-key.ts'
import { deliveryIdFrom, eventId, isUuid } from './ids.ts'

const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) }
const INVOICE = '0190163d-8694-739b-aea5-966c26f8ad91'

describe('ids', () => {
  it('event ids are a function of invoice and sequence number', () => {
    expect(eventId(INVOICE, 1)).toBe('evt_0190163d8694739baea5966c26f8ad91_1')
    expect(eventId(INVOICE, 37)).toBe('evt_0190163d8694739baea5966c26f8ad91_11')
    expect(eventId(INVOICE, 37, 36 ** 8)).toBe('evt_0190163d8694739baea5966c26f8ad91_11_100000000')
  })

  it('delivery ids are a function of their digest and use all of its first 128 bits', () => {
    const digest = createHash('sha256').update('event:endpoint:0').digest('hex')
    expect(deliveryIdFrom(digest)).toBe(deliveryIdFrom(digest))
    expect(deliveryIdFrom(digest)).toMatch(/^whd_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
    expect(deliveryIdFrom('f'.repeat(32))).toBe(`whd_7${'z'.repeat(25)}`)
    expect(deliveryIdFrom(`${'0'.repeat(31)}1`)).toBe(`whd_${'0'.repeat(25)}1`)
    expect(() => deliveryIdFrom('abc')).toThrow(RangeError)
    expect(() => deliveryIdFrom('g'.repeat(64))).toThrow(RangeError)
  })

  it('knows the form of a UUID', () => {
    expect(isUuid(INVOICE)).toBe(true)
    expect(isUuid(INVOICE.toUpperCase())).toBe(true)
    for (const wrong of [
      '',
      'x',
      INVOICE.slice(1),
      `${INVOICE}0`,
      INVOICE.replaceAll('-', ''),
      ` ${INVOICE}`,
      `${INVOICE}\n`,
    ]) {
      expect(isUuid(wrong)).toBe(false)
    }
  })
})

describe('API keys', () => {
  // Check value of CRC-32/ISO-HDLC in the list of parametrised CRC algorithms.
  it('the check sum is the standard CRC-32', () => {
    expect(crc32(new TextEncoder().encode('123456789'))).toBe(0xcbf43926)
    expect(crc32(new Uint8Array())).toBe(0)
  })

  // Guarantee: a malformed key is refused without asking any store.
  it('are recognised by form and check sum, and every single changed character is noticed', () => {
    const key = newApiKey('test', random)
    expect(key).toMatch(/^pm_test_[0-9A-Za-z]{38}$/)
    expect(parseApiKey(key)).toEqual({ mode: 'test' })
    expect(parseApiKey(newApiKey('live', random))).toEqual({ mode: 'live' })
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'a' ? 'b' : 'a'
      expect(parseApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBeNull()
    }
    for (const wrong of ['', 'pm_test_', key.slice(0, -1), `${key}0`, ` ${key}`, key.replace('test', 'live')]) {
      expect(parseApiKey(wrong)).toBeNull()
    }
  })

  it('use every random byte that does not favour a character', () => {
    const bytes = [255, 248, 0, 61, 62, 247]
    let calls = 0
    const key = newApiKey('live', {
      bytes: (length) => {
        calls += 1
        return Uint8Array.from({ length }, (_, index) => bytes[index % bytes.length] ?? 0)
      },
    })
    expect(calls).toBe(2)
    expect(key).toContain('pm_live_0z0z0z0z')
  })
})
