import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { nextAttemptAt, WEBHOOK_RETRY_DELAYS_MS } from './schedule.ts'
import { parseSignatureHeader, signatureHeader, signedText, verifySignature } from './signature.ts'

describe('the schedule', () => {
  it('is nine requests over 44 h 36 m, then failed', () => {
    let now = 0
    let attempts = 1
    for (let next = nextAttemptAt(attempts, now); next !== null; next = nextAttemptAt(attempts, now)) {
      expect(next).toBeGreaterThanOrEqual(now)
      now = next
      attempts += 1
    }
    expect(attempts).toBe(9)
    expect(now).toBe((44 * 60 + 36) * 60_000)
  })

  it('has the delays of the specification', () => {
    expect(WEBHOOK_RETRY_DELAYS_MS.map((delay) => delay / 60_000)).toEqual([0, 1, 5, 30, 120, 360, 720, 1_440])
  })
})

describe('the signature', () => {
  const secret = 'whsec_test'
  const body = new TextEncoder().encode('{"id":"evt_1","text":"ñ €"}')
  const hmacHex = (text: Uint8Array) => createHmac('sha256', secret).update(text).digest('hex')
  const t = 1_700_000_000
  const header = signatureHeader(t, hmacHex(signedText(t, body)))
  const check = (change = {}) => verifySignature({ header, body, nowSeconds: t, hmacHex, ...change })

  it('covers `<t>.<raw body>` byte by byte', () => {
    expect(new TextDecoder().decode(signedText(t, body))).toBe(`1700000000.${new TextDecoder().decode(body)}`)
    expect(header).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/)
    expect(parseSignatureHeader(header)?.t).toBe(t)
  })

  it.each([
    [-301, 'outdated'],
    [-300, 'valid'],
    [0, 'valid'],
    [300, 'valid'],
    [301, 'outdated'],
  ])('a clock that differs by %s s is %s', (seconds, verdict) => {
    expect(check({ nowSeconds: t + seconds })).toBe(verdict)
  })

  // Guarantee: nobody without the secret can make a receiver believe in a payment.
  it('refuses another body, time, secret or form', () => {
    expect(check({ body: new TextEncoder().encode('{}') })).toBe('mismatch')
    expect(check({ header: header.replace('t=1700000000', 't=1700000001') })).toBe('mismatch')
    expect(check({ hmacHex: () => 'a'.repeat(64) })).toBe('mismatch')
    expect(check({ hmacHex: () => '' })).toBe('mismatch')
    for (const wrong of ['', 't=,v1=', `v1=${'a'.repeat(64)}`, `${header},v1=x`, header.toUpperCase(), ` ${header}`]) {
      expect(check({ header: wrong })).toBe('malformed')
    }
  })
})
