import type { Settings } from './use-settings-draft.ts'

/** A numeric rule, shown as a sentence around its field. */
export interface NumberField {
  readonly key:
    | 'quoteMs'
    | 'spreadBps'
    | 'toleranceBps'
    | 'lateGraceMs'
    | 'lateDriftBps'
    | 'depositBps'
    | 'newLifeMs'
    | 'quarantineMs'
    | 'reservePercent'
    | 'largeSumUsd'
  readonly before: string
  readonly after: string
  /** The stored value of one unit that people enter. */
  readonly unit: number
  readonly min: number
  readonly max: number
  readonly usual: number
  readonly effect: string
  /** Continues the sentence of the field before. */
  readonly isContinued?: true
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Stored in hundredths of a percent. */
const PERCENT = 100

export const PRICING_FIELDS: readonly NumberField[] = [
  {
    ...{
      key: 'quoteMs',
      before: 'Lock the price for',
      after: 'minutes.',
      unit: MINUTE,
      min: 5,
      max: 1_440,
      usual: 20,
    },
    effect:
      'Longer gives customers more time, but you carry the exchange-rate risk. An invoice with a chosen coin and its own expiry keeps its price for that whole time.',
  },
  {
    ...{
      key: 'spreadBps',
      before: 'Value coins',
      after: '% below the market.',
      unit: PERCENT,
      min: 0,
      max: 10,
      usual: 0,
    },
    effect: 'Covers your exchange fees. Included in the price customers see.',
  },
]

export const PAYMENT_FIELDS: readonly NumberField[] = [
  {
    ...{ key: 'toleranceBps', before: 'Accept underpayments up to', after: '%.', unit: PERCENT },
    ...{ min: 0, max: 10, usual: 0 },
    effect:
      'Exchanges often deduct a fee. If above 0, these are accepted automatically and marked “Underpayment accepted”.',
  },
  {
    ...{
      key: 'lateGraceMs',
      before: 'Accept late payments automatically up to',
      after: 'minutes after expiry,',
      unit: MINUTE,
    },
    ...{ min: 0, max: 10_080, usual: 60 },
    effect: 'Later payments need a decision under Exceptions.',
  },
  {
    ...{ key: 'lateDriftBps', before: 'if the coin fell by at most', after: '%.', unit: PERCENT },
    ...{ min: 0, max: 10, usual: 2, isContinued: true },
    effect:
      'A rise in your favour is always accepted. The same limit applies to money that comes after the price lock.',
  },
  {
    ...{
      key: 'depositBps',
      before: 'After a deposit of at least',
      after: '% the rest may come later, within the fall above.',
      unit: PERCENT,
    },
    ...{ min: 0, max: 100, usual: 5 },
    effect: 'After a smaller one the rest needs a new price, like a payment without any deposit.',
  },
  {
    ...{ key: 'newLifeMs', before: 'Invoices without a chosen coin expire after', after: 'hours.', unit: HOUR },
    ...{ min: 1, max: 720, usual: 24 },
    effect: 'Once the customer chooses a coin, the price lock above applies, however long the invoice is open.',
  },
  {
    ...{
      key: 'quarantineMs',
      before: 'After a pool address moves to a new invoice, match only exact amounts for',
    },
    ...{ after: 'days.', unit: DAY, min: 1, max: 999, usual: 7 },
    effect: 'Late payments for the earlier invoice then need a decision under Exceptions.',
  },
  {
    ...{
      key: 'reservePercent',
      before: 'Reserve',
      after: '% of each pool and plan for your own integrations.',
    },
    ...{ unit: 1, min: 0, max: 90, usual: 50 },
    effect:
      'Limits how much visitors of payment links can use. In pools only unpaid visitors count. Enter 0 if you only sell through links.',
  },
  {
    ...{
      key: 'largeSumUsd',
      before: 'Require a two-factor code for a live underpayment or refund above',
      after: 'US dollars.',
    },
    ...{ unit: 1, min: 0, max: 999_999, usual: 100 },
    effect: 'All owners get an email about it. 0 requires a code every time.',
  },
]

/** The fields by sentence: most have their own. */
export function sentencesOf(fields: readonly NumberField[]): readonly (readonly NumberField[])[] {
  const starts = fields.flatMap(({ isContinued }, place) => (isContinued === true && place > 0 ? [] : [place]))
  return starts.map((start, index) => fields.slice(start, starts[index + 1]))
}

/** The stored value in the entered unit. */
export function shownNumber({ key, unit }: NumberField, settings: Settings): string {
  return String(settings[key] / unit)
}

/** The entered text as a stored value; null when it is not a number within the bounds. One separator, dot or comma. */
export function typedNumber({ unit, min, max }: NumberField, text: string): number | null {
  const plain = text.trim().replace(',', '.')
  if (!/^\d{1,6}(\.\d{1,2})?$/.test(plain)) return null
  const stored = Math.round(Number(plain) * unit)
  return stored >= min * unit && stored <= max * unit ? stored : null
}
