import { expect, test } from 'vitest'
import { EVENT_TYPES } from '#shared/domain/enumerations.ts'
import { samplePaymentMethod } from '#test/support/db-samples.ts'
import { eventSentence } from './invoice-timeline.ts'

test('the choice of a coin names the coin that was chosen then', () => {
  const methods = [samplePaymentMethod('e01', 1_000), { ...samplePaymentMethod('e02', 5_000), symbol: 'DAI' }]
  expect(eventSentence('invoice.pending', 1_000, methods)).toMatch(/^Payer chose \w+ on Ethereum$/)
  expect(eventSentence('invoice.pending', 9_000, methods)).toBe('Payer chose DAI on Ethereum')
  expect(eventSentence('invoice.pending', 9_000, [])).toBe('Payer chose a coin')
})

test('every event has a sentence without its technical name', () => {
  for (const type of EVENT_TYPES) expect(eventSentence(type, 1, [])).toMatch(/^[A-Z][^._]+$/)
})
