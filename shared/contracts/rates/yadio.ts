import { z } from 'zod'

/** `GET /exrates/USD` of Yadio: units per USD; `timestamp` is Unix milliseconds. Numbers are bare in the format. */
export const yadioAnswer = z.object({
  base: z.literal('USD'),
  timestamp: z.string(),
  USD: z.record(z.string(), z.unknown()),
  /** USD per bitcoin, which moves with every update. */
  BTC: z.unknown(),
})
