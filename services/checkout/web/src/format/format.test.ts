import { describe, expect, it } from 'vitest'
import type { InvoiceView } from '#shared/contracts/checkout/invoice-view.ts'
import { en } from '../locales/en.ts'
import { es } from '../locales/es.ts'
import { pt } from '../locales/pt.ts'
import { speechIn } from '../locales/speech.ts'
import { WORDS } from '../locales/words.ts'
import { addressGroups, durationText, fiatText, roughText } from './format-values.ts'
import { chooseLanguage, localeOf } from './locale.ts'
import { plain } from './plain.ts'
import { slowest, stepOf, timeLeft } from './step.ts'
import { amountFault, readTypedAmount } from './typed-amount.ts'

describe('typed amounts', () => {
  const read = (text: string, currency: 'MXN' | 'CLP' = 'MXN') =>
    readTypedAmount(text, currency, { min: '200.00', max: '5000.00' })

  it.each([
    ['1250', '1250.00'],
    ['1250.5', '1250.50'],
    ['1250,50', '1250.50'],
    [' 0200 ', '200.00'],
    ['5000', '5000.00'],
  ])('understands %j as %s', (text, value) => expect(read(text)).toEqual({ kind: 'amount', value }))

  /** Guarantee: 1.250 is never taken for one and a quarter, nor for twelve hundred and fifty. */
  it.each([
    ['1.250', 'Enter it without separators, like 1250.50'],
    ['-5', 'The amount must be above zero'],
    ['abc', 'Enter a number, like 1250.50'],
    ['1250.505', 'This currency has at most 2 decimals, like 1250.50'],
    ['', 'Enter the amount that you want to pay'],
    ['1', 'This is too little. Between 200.00 MXN and 5,000.00 MXN.'],
    ['6000', 'This is too much. Between 200.00 MXN and 5,000.00 MXN.'],
  ])('refuses %j with the reason', (text, fault) =>
    expect(
      amountFault(speechIn('en', WORDS.en, []), read(text), {
        amount: { kind: 'custom', min: '200.00', max: '5000.00' },
        currency: 'MXN',
      }),
    ).toBe(fault),
  )

  it('knows bounds, nothing, and currencies without decimals', () => {
    expect(read('199.99')).toEqual({ kind: 'low' })
    expect(read('5000.01')).toEqual({ kind: 'high' })
    expect(read(' ')).toEqual({ kind: 'empty' })
    expect(readTypedAmount('1250', 'CLP', { min: null, max: null })).toEqual({ kind: 'amount', value: '1250' })
    expect(readTypedAmount('1250,5', 'CLP', { min: null, max: null })).toEqual({ kind: 'decimals' })
  })
})

describe('texts', () => {
  const places = (text: string) => [...new Set(text.match(/\{\w\}/g) ?? [])].sort()

  /** Guarantee: no payer reads a text with a hole in it, whatever the language. */
  it('has every text in every language, with the same places', () => {
    for (const [name, messages] of Object.entries({ es, pt })) {
      expect(Object.keys(messages), name).toEqual(Object.keys(en))
      for (const [key, text] of Object.entries(messages)) {
        expect([key, places(text)]).toEqual([key, places(en[key as keyof typeof en])])
        expect([key, text.trim()]).not.toEqual([key, ''])
      }
    }
  })

  it('never shouts and never congratulates', () => {
    for (const text of [en, es, pt].flatMap((messages) => Object.values(messages))) {
      expect(text).not.toMatch(/[!¡]|successfully|con éxito|com sucesso/i)
    }
  })

  it('shows what cannot be seen', () => {
    expect(plain('a\u202egnp.exe\u0000\u200b')).toBe('a␦gnp.exe␦␦')
    expect(plain('Pay\u00adme\u2060sh\u{e0041}')).toBe('Pay␦me␦sh␦')
    expect(plain('Two shirts\r\n\tOne cap')).toBe('Two shirts\r\n\tOne cap')
    expect(plain('Café Ñandú 日本 العربية 👩‍🍳')).toBe('Café Ñandú 日本 العربية 👩‍🍳')
  })
})

describe('figures', () => {
  it('writes fiat as the reader does, without computing a digit', () => {
    const fiat = { value: '12345678901234.50', currency: 'USD' } as const
    expect(fiatText(fiat, 'en-US')).toBe('12,345,678,901,234.50 USD')
    expect(fiatText({ value: '1250.00', currency: 'ARS' }, localeOf('es', ['es'], 'ARS'))).toBe('1.250,00 ARS')
    expect(fiatText({ value: '1250.00', currency: 'MXN' }, localeOf('es', [], 'MXN'))).toBe('1,250.00 MXN')
    expect(fiatText({ value: '1250', currency: 'CLP' }, localeOf('es', [], 'CLP'))).toBe('1.250 CLP')
    expect(fiatText({ value: '1250.00', currency: 'BRL' }, localeOf('pt', ['en-US', 'pt-BR']))).toBe('1.250,00 BRL')
  })

  it('writes times and addresses as they are read aloud', () => {
    expect([252_000, 59_000, 60_000, 7_500_000].map(durationText)).toEqual(['4 min 12 s', '59 s', '1 min', '2 h 5 min'])
    expect([1, 61_000, 7_200_000].map(roughText)).toEqual(['1 min', '2 min', '2 h'])
    expect(addressGroups('TSWqa1StkkGB8idDYxQd9jGZWXQfahxbG3')).toEqual(
      'TSWq a1St kkGB 8idD YxQd 9jGZ WXQf ah xbG3'.split(' '),
    )
    expect(addressGroups('0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE').slice(0, 2)).toEqual(['0x8282', 'Ec02'])
    expect(addressGroups('0x8282Ec02E4038c9F6789c1E7c2eCdc172Be26fDE').join('')).toHaveLength(42)
  })

  it('chooses a language that it has', () => {
    expect(chooseLanguage(null, ['de-DE', 'pt-PT', 'en'])).toBe('pt')
    expect(chooseLanguage('es', ['en-US'])).toBe('es')
    expect(chooseLanguage('xx', ['de'])).toBe('en')
  })
})

describe('steps', () => {
  const NOW = 1_000_000
  const view = (change: Partial<InvoiceView>, paymentMethod: Partial<InvoiceView['paymentMethod']> = {}): InvoiceView =>
    ({
      status: 'pending',
      expiresAt: NOW + 1_200,
      received: '0',
      payments: [],
      paymentMethod: { quoteEndsAt: NOW + 900, quotedAt: NOW - 900, ...paymentMethod },
      ...change,
    }) as InvoiceView
  const late = { isLate: true, uncounted: null, state: 'confirmed' } as InvoiceView['payments'][number]

  it.each([
    ['pick', view({ status: 'new', paymentMethod: null })],
    ['expired', view({ status: 'new', paymentMethod: null, expiresAt: NOW })],
    ['pay', view({})],
    ['lapsed', view({}, { quoteEndsAt: NOW })],
    ['checking', view({ expiresAt: NOW })],
    ['partial', view({ status: 'partial', received: '1.00' })],
    ['lapsed', view({ status: 'partial', received: '1.00' }, { quoteEndsAt: NOW })],
    ['checking', view({ status: 'partial', received: '1.00', expiresAt: NOW })],
    ['confirming', view({ status: 'confirming' })],
    ['paid', view({ status: 'overpaid' })],
    ['expired', view({ status: 'expired', received: '0.00' })],
    ['short', view({ status: 'expired', received: '1.00' })],
    ['late', view({ status: 'expired', received: '1.00', payments: [late] })],
    ['cancelled', view({ status: 'cancelled' })],
  ] as const)('shows %s', (step, shown) => expect(stepOf(shown, NOW)).toBe(step))

  it('shows the time left in the last third alone', () => {
    expect(timeLeft(view({}), NOW)).toEqual({ ms: 900, isShown: false })
    expect(timeLeft(view({}), NOW + 301)).toEqual({ ms: 599, isShown: true })
    expect(timeLeft(view({}), NOW + 900)?.isShown).toBe(false)
    expect(timeLeft(view({ status: 'paid' }), NOW)).toBeNull()
  })

  it('takes the payment with furthest to go for the progress', () => {
    const payment = (state: string, confirmations: number) =>
      ({ ...late, state, confirmations, requiredConfirmations: 19 }) as InvoiceView['payments'][number]
    const payments = [payment('confirmed', 19), payment('detected', 12), payment('detected', 15), payment('dropped', 0)]
    expect(slowest(view({ payments }))).toEqual({ have: 12, need: 19 })
  })
})
