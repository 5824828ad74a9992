import type { Prng } from '../kernel/prng.ts'
import { PAST } from './contract-samples.ts'
import type { Repositories } from './contract-stage.ts'
import { DELIVERY_QUERIES } from './sequence-deliveries.ts'
import { INVOICE_QUERIES } from './sequence-invoices.ts'
import { KEEPER_QUERIES } from './sequence-keepers.ts'
import { PAYMENT_QUERIES } from './sequence-payments.ts'
import type { StoreQuery, Turn } from './sequence-turn.ts'

/** The areas that sequences are drawn from; the questions of one share their documents. */
export const AREAS = {
  invoices: INVOICE_QUERIES,
  payments: PAYMENT_QUERIES,
  deliveries: DELIVERY_QUERIES,
  keepers: KEEPER_QUERIES,
} as const

/** Asks of one area in random order, `length` of them. Errors are answers as well; the stage has written them down. */
export async function runSequence(
  area: keyof typeof AREAS,
  on: Repositories,
  random: Prng,
  length: number,
): Promise<void> {
  let ticks = 0
  const turn: Turn = { on, random, tick: () => PAST + 1_000 * ++ticks }
  for (let step = 0; step < length; step++)
    await random
      .pick<StoreQuery>(AREAS[area])(turn)
      .catch(() => undefined)
}
