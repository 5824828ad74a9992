import { generate } from 'otplib'
import { expect, test } from 'vitest'
import { createOneTimeCodes } from './one-time-codes.ts'

const codes = createOneTimeCodes()
const AT = 1_790_000_010_000
const STEP = Math.floor(AT / 30_000)

// Guarantee: a code is good in its own step and the two beside it, and says which step it belongs to.
test('a code belongs to one step', async () => {
  const secret = codes.newSecret()
  for (const steps of [-2, -1, 0, 1, 2]) {
    const code = await generate({ secret, epoch: AT / 1_000 + steps * 30 })
    expect(await codes.stepOf(secret, code, AT)).toBe(Math.abs(steps) < 2 ? STEP + steps : null)
  }
})

/** RFC 6238, appendix B: the last six digits for the secret "12345678901234567890" at 59 s. */
test('codes are those of the standard', async () => {
  expect(await codes.stepOf('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ', '287082', 59_000)).toBe(1)
})

test('spaces are forgiven, anything else is no code', async () => {
  const secret = codes.newSecret()
  const code = await generate({ secret, epoch: AT / 1_000 })
  expect(await codes.stepOf(secret, ` ${code.slice(0, 3)} ${code.slice(3)}`, AT)).toBe(STEP)
  for (const bad of ['', '12345', '1234567', 'abcdef', '１２３４５６', `${code}0`]) {
    expect(await codes.stepOf(secret, bad, AT), bad).toBeNull()
  }
})

test('an authenticator is told whose secret it scans', () => {
  const uri = new URL(codes.uri('GEZDGNBVGY3TQOJQ', 'ana@example.com'))
  expect(decodeURIComponent(uri.pathname)).toContain('Paymesh:ana@example.com')
  expect(uri.searchParams.get('secret')).toBe('GEZDGNBVGY3TQOJQ')
})
