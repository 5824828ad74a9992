import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SLOTS_MAX, slotAmount } from './amount-slot.ts'
import { formatUnits, parseUnits } from './money.ts'

const price = fc.bigInt({ min: 1n, max: 10n ** 30n })
const slot = fc.bigInt({ min: 1n, max: SLOTS_MAX })
const decimals = fc.constantFrom(6, 8, 9, 18)

describe('amount slots', () => {
  // Guarantee: two invoices at one price are never asked for the same amount, and the addition stays tiny.
  it('differ for different slots, lie above the price and can be typed', () => {
    fc.assert(
      fc.property(price, decimals, slot, slot, (base, digits, one, other) => {
        const amount = slotAmount(base, digits, one)
        expect(amount === slotAmount(base, digits, other)).toBe(one === other)
        expect(amount).toBeGreaterThan(base)
        const added = formatUnits(amount - base, digits)
        expect((added.split('.')[1] ?? '').length).toBeLessThanOrEqual(8)
        expect(parseUnits(added, digits)).toBeLessThanOrEqual(
          parseUnits(digits < 8 ? '0.009999' : '0.00009999', digits),
        )
      }),
    )
  })

  it('are refused outside their range', () => {
    for (const wrong of [0n, -1n, SLOTS_MAX + 1n]) expect(() => slotAmount(5n, 6, wrong)).toThrow(RangeError)
    expect(slotAmount(1_000_000n, 6, 1n)).toBe(1_000_001n)
    expect(slotAmount(10n ** 18n, 18, 2n)).toBe(10n ** 18n + 2n * 10n ** 10n)
  })
})
