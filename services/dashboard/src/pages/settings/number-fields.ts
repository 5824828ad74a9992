import type { Settings } from './use-settings-draft.ts'

/** A rule that is a number, told as a sentence around it. */
export interface NumberField {
  readonly key:
    | 'quoteMs'
    | 'spreadBps'
    | 'toleranceBps'
    | 'lateGraceMs'
    | 'lateDriftBps'
    | 'newLifeMs'
    | 'quarantineMs'
    | 'reservePercent'
    | 'shortfallStepUpUsd'
  readonly before: string
  readonly after: string
  /** The stored value of one unit that people type. */
  readonly unit: number
  readonly min: number
  readonly max: number
  readonly usual: number
  readonly effect: string
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
      before: 'A price is held for',
      after: 'minutes.',
      unit: MINUTE,
      min: 5,
      max: 1_440,
      usual: 20,
    },
    effect: 'Longer is kinder to slow payers; the price of the coin moves meanwhile, at your risk.',
  },
  {
    ...{ key: 'spreadBps', before: 'Add', after: '% to the market rate.', unit: PERCENT, min: 0, max: 10, usual: 0 },
    effect: 'Covers what an exchange takes from you later. Payers see the price with it.',
  },
]

export const PAYMENT_FIELDS: readonly NumberField[] = [
  {
    ...{ key: 'toleranceBps', before: 'A payment that is short by up to', after: '% counts as paid.', unit: PERCENT },
    ...{ min: 0, max: 10, usual: 0 },
    effect: 'Exchanges often keep a fee. Above 0 such payments settle by themselves and are marked “Accepted short”.',
  },
  {
    ...{
      key: 'lateGraceMs',
      before: 'A payment counts by itself up to',
      after: 'minutes after the deadline,',
      unit: MINUTE,
    },
    ...{ min: 0, max: 10_080, usual: 60 },
    effect: 'Later ones wait for your decision under Exceptions.',
  },
  {
    ...{ key: 'lateDriftBps', before: 'if the price has fallen by no more than', after: '%.', unit: PERCENT },
    ...{ min: 0, max: 10, usual: 2 },
    effect: 'Only a fall to your loss is counted.',
  },
  {
    ...{ key: 'newLifeMs', before: 'An invoice without a chosen coin ends after', after: 'hours.', unit: HOUR },
    ...{ min: 1, max: 720, usual: 24 },
    effect: 'Once a coin is chosen its price has its own, shorter time.',
  },
  {
    ...{
      key: 'quarantineMs',
      before: 'When an address of a pool goes to its next invoice, only the exact amount pays it for',
    },
    ...{ after: 'days.', unit: DAY, min: 1, max: 999, usual: 7 },
    effect: 'Late money of the invoice before waits for your decision under Exceptions.',
  },
  {
    ...{
      key: 'reservePercent',
      before: 'Visitors of payment links leave',
      after: '% of each pool and plan to your programs.',
    },
    ...{ unit: 1, min: 0, max: 90, usual: 50 },
    effect: 'In pools only those who have not paid count. If you sell by links only, 0 gives them everything.',
  },
  {
    ...{
      key: 'shortfallStepUpUsd',
      before: 'Accepting a live invoice that is short by more than',
      after: 'US dollars needs a code.',
    },
    ...{ unit: 1, min: 0, max: 999_999, usual: 100 },
    effect: 'Every owner gets a mail about it. With 0 each shortfall needs one.',
  },
]

/** The stored value as people type it. */
export function shownNumber({ key, unit }: NumberField, settings: Settings): string {
  return String(settings[key] / unit)
}

/** What was typed as it is stored; null when it is no number within the bounds. One separator, dot or comma. */
export function typedNumber({ unit, min, max }: NumberField, text: string): number | null {
  const plain = text.trim().replace(',', '.')
  if (!/^\d{1,6}(\.\d{1,2})?$/.test(plain)) return null
  const stored = Math.round(Number(plain) * unit)
  return stored >= min * unit && stored <= max * unit ? stored : null
}
