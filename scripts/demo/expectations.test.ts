import { describe, expect, test } from 'vitest'
import { EXPECTED_EVENTS, faultsOf, type ReceivedEvent } from './expectations.ts'

const paid = { amountBase: 25_000_000n, txHash: '0xabc' }

function story(): ReceivedEvent[] {
  return EXPECTED_EVENTS.map((type, index) => ({
    id: `evt_${index}`,
    type,
    signatureValid: true,
    invoice: {
      status: 'paid',
      crypto: null,
      received: { amount: '25', amount_base_units: '25000000', confirmed_base_units: '25000000' },
      updated_at: `2026-10-01T00:00:0${index}.000Z`,
    },
    payment: type.startsWith('payment.') ? { amount_base_units: '25000000', tx_hash: '0xabc' } : null,
  }))
}

/** The demo may only call itself a success when every one of these would have been noticed. */
describe('faultsOf', () => {
  test('a complete story has no fault, in any order of arrival and with duplicates', () => {
    expect(faultsOf([...story().reverse(), ...story()], paid)).toEqual([])
  })

  test('notices a missing event', () => {
    expect(faultsOf(story().slice(0, -1), paid)).toContain('invoice.paid was announced 0 times')
  })

  test('notices an invalid signature', () => {
    const events = story().map((event, index) => (index === 2 ? { ...event, signatureValid: false } : event))
    expect(faultsOf(events, paid)).toEqual(['payment.detected carries an invalid signature'])
  })

  test('notices another amount, another transaction and an event announced twice', () => {
    expect(faultsOf(story(), { amountBase: 1n, txHash: '0xdef' }).length).toBeGreaterThanOrEqual(5)
    const twice = story()
    const last = twice.at(-1)
    if (last) twice.push({ ...last, id: 'evt_again' })
    expect(faultsOf(twice, paid)).toContain('invoice.paid was announced 2 times')
  })

  test('notices changes that happened in an illegal order', () => {
    const events = story().map((event) =>
      event.type === 'invoice.paid'
        ? { ...event, invoice: { ...event.invoice, updated_at: '2026-09-01T00:00:00.000Z' } }
        : event,
    )
    expect(faultsOf(events, paid).some((fault) => fault.startsWith('the changes are out of order'))).toBe(true)
  })
})
