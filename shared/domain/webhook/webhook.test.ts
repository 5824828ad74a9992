import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { signatureHeader, signedText } from '../../usecases/deliveries/send.ts'
import { retryDelayMs, WEBHOOK_RETRY_DELAYS_MS } from './schedule.ts'

describe('the schedule', () => {
  it('is nine requests over 44 h 36 m, then failed', () => {
    let waitedMs = 0
    let attempts = 1
    for (let pause = retryDelayMs(attempts); pause !== null; pause = retryDelayMs(attempts)) {
      expect(pause).toBeGreaterThanOrEqual(0)
      waitedMs += pause
      attempts += 1
    }
    expect(attempts).toBe(9)
    expect(waitedMs).toBe((44 * 60 + 36) * 60_000)
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

  it('covers `<t>.<raw body>` byte by byte', () => {
    const text = signedText(t, body)
    expect(new TextDecoder().decode(text)).toBe(`1700000000.${new TextDecoder().decode(body)}`)
    expect(signatureHeader(t, hmacHex(text))).toMatch(/^t=1700000000,v1=[0-9a-f]{64}$/)
  })
})
