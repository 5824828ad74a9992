import type { z } from 'zod'
import { FIAT_CODES } from '#shared/domain/enumerations.ts'
import { readFiatAmount } from './amount.ts'

type Body = Readonly<Record<string, unknown>>
type Context = Pick<z.core.$RefinementCtx, 'addIssue'>

/**
 * Arguments for `superRefine` on a body with a `currency`: checks the amount in `field` even when other fields are faulty,
 * so that one response names all of them. With an unknown currency only its form is checked.
 */
export function validateAmount(field: string) {
  const evaluate = (body: Body, context: Context): void => {
    const amount = body[field]
    if (typeof amount !== 'string') return
    const currency = FIAT_CODES.find((code) => code === body['currency'])
    const read = readFiatAmount(amount, currency ?? 'USD', field)
    if (read.ok) return
    const message =
      currency === undefined ? 'must be a plain decimal string above zero, like "10.50"' : read.detail.message
    context.addIssue({ code: 'custom', path: [field], message, input: amount })
  }
  return [evaluate, { when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null }] as const
}
